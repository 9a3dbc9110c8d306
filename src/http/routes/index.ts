import type { OperatorAuth } from '../../access/operators.ts';
import type { RouteDeps } from '../deps.ts';
import { dialectRoutes } from '../dialects/index.ts';
import { servedDocument } from '../served-document.ts';
import { readPageFiles } from '../pages/page-files.ts';
import type { Route } from '../route.ts';
import { actOnTask } from './act-on-task.ts';
import { acceptKeyInvitation } from './accept-key-invitation.ts';
import { acceptOperatorInvitation } from './accept-operator-invitation.ts';
import { addCatalogueModel } from './add-catalogue-model.ts';
import { addOperator } from './add-operator.ts';
import { cancelImageTask } from './cancel-image-task.ts';
import { cancelVideo } from './cancel-video.ts';
import { closeAccount } from './close-account.ts';
import { compareBill } from './compare-bill.ts';
import type { FileRouteDeps } from '../files/own-file.ts';
import { createFile } from './create-file.ts';
import { deleteFile } from './delete-file.ts';
import { getFile } from './get-file.ts';
import { getFileContent } from './get-file-content.ts';
import { listFiles } from './list-files.ts';
import { createAccount } from './create-account.ts';
import { deleteAccount } from './delete-account.ts';
import { endSession } from './end-session.ts';
import { endSessions } from './end-sessions.ts';
import { exportAccount } from './export-account.ts';
import { createImage } from './create-image.ts';
import { createKey } from './create-key.ts';
import { createVideo } from './create-video.ts';
import { creditAccount } from './credit-account.ts';
import { editImage } from './edit-image.ts';
import { estimateImage } from './estimate-image.ts';
import { estimateVideo } from './estimate-video.ts';
import { discardConfigDraft } from './discard-config-draft.ts';
import { editConfigDraft } from './edit-config-draft.ts';
import { getConfig } from './get-config.ts';
import { getConfigDraft } from './get-config-draft.ts';
import { getConfigDraftEntry } from './get-config-draft-entry.ts';
import { getConsole } from './get-console.ts';
import { getAccount } from './get-account.ts';
import { getAccountBalance } from './get-account-balance.ts';
import { getAccountStatement } from './get-account-statement.ts';
import { getAccountPage } from './get-account-page.ts';
import { getCallback } from './get-callback.ts';
import { getBalance } from './get-balance.ts';
import { getAccountAlert } from './get-account-alert.ts';
import { getOwnAlert } from './get-own-alert.ts';
import { getOwnRequest } from './get-own-request.ts';
import { getDocs } from './get-docs.ts';
import { getGuide } from './get-guide.ts';
import { getImageTask } from './get-image-task.ts';
import { getIndex } from './get-index.ts';
import { getKey } from './get-key.ts';
import { getMargin } from './get-margin.ts';
import { getTrends } from './get-trends.ts';
import { getMedia } from './get-media.ts';
import { getModel } from './get-model.ts';
import { getOverview } from './get-overview.ts';
import { getPageFile } from './get-page-file.ts';
import { getStatement } from './get-statement.ts';
import { getUsage } from './get-usage.ts';
import { getTask } from './get-task.ts';
import { getTaskRecord } from './get-task-record.ts';
import { getTaskRequest } from './get-task-request.ts';
import { getImageReceipt } from './get-image-receipt.ts';
import { getReceiptKeys } from './get-receipt-keys.ts';
import { getVideoReceipt } from './get-video-receipt.ts';
import { getVideo } from './get-video.ts';
import { findBilledAttempts } from './find-billed-attempts.ts';
import { findTasks } from './find-tasks.ts';
import { healthz } from './healthz.ts';
import { inviteOperator } from './invite-operator.ts';
import { listAccounts } from './list-accounts.ts';
import { listAudit } from './list-audit.ts';
import { listBilledAttempts } from './list-billed-attempts.ts';
import { listCallbacks } from './list-callbacks.ts';
import { listCatalogue } from './list-catalogue.ts';
import { listChannels } from './list-channels.ts';
import { listConfigVersions } from './list-config-versions.ts';
import { listImageTasks } from './list-image-tasks.ts';
import { listKeys } from './list-keys.ts';
import { listLedgerEntries } from './list-ledger-entries.ts';
import { listModels } from './list-models.ts';
import { listActs } from './list-acts.ts';
import { listNotices } from './list-notices.ts';
import { listNodes } from './list-nodes.ts';
import { listOfferedModels } from './list-offered-models.ts';
import { listOperators } from './list-operators.ts';
import { listUpstreamCosts } from './list-upstream-costs.ts';
import { listUsage } from './list-usage.ts';
import { listSessions } from './list-sessions.ts';
import { listTaskFilters } from './list-task-filters.ts';
import { listTasks } from './list-tasks.ts';
import { listVideos } from './list-videos.ts';
import { openSession } from './open-session.ts';
import { openapi } from './openapi.ts';
import { preflightMedia } from './preflight-media.ts';
import { readyz } from './readyz.ts';
import { receiveUpstreamCallback } from './receive-upstream-callback.ts';
import { redeliverCallback } from './redeliver-callback.ts';
import { publishConfigDraft } from './publish-config-draft.ts';
import { reloadConfig } from './reload-config.ts';
import { rollBackConfig } from './roll-back-config.ts';
import { reopenAccount } from './reopen-account.ts';
import { revokeKey } from './revoke-key.ts';
import { revokeOperator } from './revoke-operator.ts';
import { rotateKey } from './rotate-key.ts';
import { rotateOwnWebhookSecret } from './rotate-own-webhook-secret.ts';
import { rotateWebhookSecret } from './rotate-webhook-secret.ts';
import { explainPrice } from './explain-price.ts';
import { explainRoute } from './explain-route.ts';
import { checkLedgerHeads } from './check-ledger-heads.ts';
import { listLedgerHeads } from './list-ledger-heads.ts';
import { explainTaskPrice } from './explain-task-price.ts';
import { refundImages } from './refund-images.ts';
import { tryCredential } from './try-credential.ts';
import { tryPrices } from './try-prices.ts';
import { verifyLedger } from './verify-ledger.ts';
import { setAccountAlert } from './set-account-alert.ts';
import { setOwnAlert } from './set-own-alert.ts';
import { setPriceFactors } from './set-price-factors.ts';
import { setOverdraft } from './set-overdraft.ts';
import { testCallback } from './test-callback.ts';
import { testNotices } from './test-notices.ts';
import { setChannel } from './set-channel.ts';
import { setEndUserCaps } from './set-end-user-caps.ts';
import { setKeyCaps } from './set-key-caps.ts';
import { setCircuit } from './set-circuit.ts';
import { setOperatorRoles } from './set-operator-roles.ts';
import { withdrawInvitation } from './withdraw-invitation.ts';

/** If two operations match the same path and method, the first one responds. */
export function createRoutes(deps: RouteDeps): readonly Route[] {
  const pages = readPageFiles();
  let described: ReturnType<typeof servedDocument> | undefined;
  const document = () => (described ??= servedDocument(routes));
  const routes: Route[] = [
    // Must come before the list. Otherwise, a request with an empty task id would be treated as a list request.
    getVideo(deps),
    createVideo(deps),
    listVideos(deps),
    cancelVideo(deps),
    estimateVideo(deps),
    getVideoReceipt(deps),
    getReceiptKeys(deps),
    // Must come before the list, for the same reason as `getVideo`.
    getImageTask(deps),
    cancelImageTask(deps),
    createImage(deps),
    editImage(deps),
    estimateImage(deps),
    getImageReceipt(deps),
    listImageTasks(deps),
    ...dialectRoutes(deps),
    listModels(deps),
    getModel(deps),
    getBalance(deps),
    getOwnAlert(deps),
    setOwnAlert(deps),
    getStatement(deps),
    getKey(deps),
    getUsage(deps),
    getOwnRequest(deps),
    listCallbacks(deps),
    testCallback(deps),
    getCallback(deps),
    redeliverCallback(deps),
    acceptKeyInvitation(deps),
    rotateOwnWebhookSecret(deps),
    ...(deps.storedFiles === undefined ? [] : fileRoutes(deps, deps.storedFiles)),
    ...(deps.keptResults === undefined ? [] : [getMedia(deps.keptResults), preflightMedia()]),
    healthz(),
    readyz(deps),
    receiveUpstreamCallback(deps),
    openapi(document),
    getIndex(deps, pages),
    getDocs(deps, pages, document),
    getGuide(pages),
    getAccountPage(deps, pages),
    getConsole(deps, pages),
    getPageFile(pages),
    ...(deps.operatorAuth === undefined ? [] : operatorRoutes(deps, deps.operatorAuth, () => routes)),
  ];
  return routes;
}

function fileRoutes(deps: RouteDeps, stored: FileRouteDeps): readonly Route[] {
  return [
    createFile({ ...deps, stored }),
    listFiles(stored),
    getFile(stored),
    getFileContent(stored),
    deleteFile(stored),
  ];
}

type AllRoutes = () => readonly Route[];

function operatorRoutes(deps: RouteDeps, operatorAuth: OperatorAuth, all: AllRoutes): readonly Route[] {
  return [
    createAccount(deps),
    listAccounts(deps),
    getAccount(deps),
    creditAccount(deps),
    listLedgerEntries(deps),
    getAccountBalance(deps),
    getAccountStatement(deps),
    verifyLedger(deps),
    listLedgerHeads(deps),
    checkLedgerHeads(deps),
    listUpstreamCosts(deps),
    listUsage(deps),
    getMargin(deps),
    getTrends(deps),
    rotateWebhookSecret(deps),
    setOverdraft(deps),
    setPriceFactors(deps),
    getAccountAlert(deps),
    setAccountAlert(deps),
    setEndUserCaps(deps),
    setKeyCaps(deps),
    closeAccount(deps),
    compareBill(deps),
    reopenAccount(deps),
    exportAccount(deps),
    deleteAccount(deps),
    createKey(deps, all),
    listKeys(deps),
    rotateKey(deps),
    revokeKey(deps),
    listTaskFilters(deps),
    listTasks(deps),
    findBilledAttempts(deps),
    findTasks(deps),
    getTask(deps),
    getTaskRecord(deps),
    getTaskRequest(deps),
    actOnTask(deps),
    refundImages(deps),
    getOverview(deps, all),
    listAudit(deps),
    listBilledAttempts(deps),
    listChannels(deps),
    listOfferedModels(deps),
    setChannel(deps),
    setCircuit(deps),
    listActs(),
    listNotices(deps),
    testNotices(deps),
    explainRoute(deps),
    explainPrice(deps),
    explainTaskPrice(deps),
    tryPrices(deps),
    ...operatorsOwnRoutes({ ...deps, operatorAuth }),
    listNodes(deps),
    ...configRoutes(deps),
  ];
}

function configRoutes(deps: RouteDeps): readonly Route[] {
  return [
    getConfig(deps),
    reloadConfig(deps),
    listConfigVersions(deps),
    rollBackConfig(deps),
    getConfigDraft(deps),
    getConfigDraftEntry(deps),
    editConfigDraft(deps),
    publishConfigDraft(deps),
    discardConfigDraft(deps),
    listCatalogue(deps),
    addCatalogueModel(deps),
    tryCredential(deps),
  ];
}

function operatorsOwnRoutes(deps: RouteDeps & { readonly operatorAuth: OperatorAuth }): readonly Route[] {
  return [
    addOperator(deps),
    listOperators(deps),
    inviteOperator(deps),
    withdrawInvitation(deps),
    acceptOperatorInvitation(deps),
    setOperatorRoles(deps),
    revokeOperator(deps),
    openSession(deps),
    listSessions(deps),
    endSession(deps),
    endSessions(deps),
  ];
}
