import type { OperatorAuth } from '../../access/operators.ts';
import type { ImageRouteDeps, RouteDeps } from '../deps.ts';
import type { Route } from '../route.ts';
import { actOnTask } from './act-on-task.ts';
import { addOperator } from './add-operator.ts';
import { cancelVideo } from './cancel-video.ts';
import { closeAccount } from './close-account.ts';
import { createAccount } from './create-account.ts';
import { createImage } from './create-image.ts';
import { createKey } from './create-key.ts';
import { createVideo } from './create-video.ts';
import { creditAccount } from './credit-account.ts';
import { editImage } from './edit-image.ts';
import { estimateVideo } from './estimate-video.ts';
import { getConfig } from './get-config.ts';
import { getAccount } from './get-account.ts';
import { getBalance } from './get-balance.ts';
import { getImageTask } from './get-image-task.ts';
import { getMedia } from './get-media.ts';
import { getModel } from './get-model.ts';
import { getTask } from './get-task.ts';
import { getTaskRecord } from './get-task-record.ts';
import { getVideo } from './get-video.ts';
import { findTasks } from './find-tasks.ts';
import { healthz } from './healthz.ts';
import { listAccounts } from './list-accounts.ts';
import { listAudit } from './list-audit.ts';
import { listChannels } from './list-channels.ts';
import { listImageTasks } from './list-image-tasks.ts';
import { listKeys } from './list-keys.ts';
import { listLedgerEntries } from './list-ledger-entries.ts';
import { listModels } from './list-models.ts';
import { listNotices } from './list-notices.ts';
import { listNodes } from './list-nodes.ts';
import { listOperators } from './list-operators.ts';
import { listTasks } from './list-tasks.ts';
import { listVideos } from './list-videos.ts';
import { openapi } from './openapi.ts';
import { readyz } from './readyz.ts';
import { receiveUpstreamCallback } from './receive-upstream-callback.ts';
import { reloadConfig } from './reload-config.ts';
import { reopenAccount } from './reopen-account.ts';
import { revokeKey } from './revoke-key.ts';
import { revokeOperator } from './revoke-operator.ts';
import { rotateKey } from './rotate-key.ts';
import { rotateWebhookSecret } from './rotate-webhook-secret.ts';
import { explainRoute } from './explain-route.ts';
import { verifyLedger } from './verify-ledger.ts';
import { setOverdraft } from './set-overdraft.ts';
import { testNotices } from './test-notices.ts';
import { setChannel } from './set-channel.ts';
import { setCircuit } from './set-circuit.ts';

/** Every operation. Where two match one path and method, the first answers. */
export function createRoutes(deps: RouteDeps): readonly Route[] {
  const routes: Route[] = [
    // Before the list, so that an empty task id is a missing parameter and not a list.
    getVideo(deps),
    createVideo(deps),
    listVideos(deps),
    cancelVideo(deps),
    estimateVideo(deps),
    ...(deps.images === undefined ? [] : imageRoutes(deps, deps.images)),
    listModels(deps),
    getModel(deps),
    getBalance(deps),
    ...(deps.keptResults === undefined ? [] : [getMedia(deps.keptResults)]),
    healthz(),
    readyz(deps),
    receiveUpstreamCallback(deps),
    openapi(() => routes),
    ...(deps.operatorAuth === undefined ? [] : operatorRoutes(deps, deps.operatorAuth)),
  ];
  return routes;
}

function imageRoutes(deps: RouteDeps, images: ImageRouteDeps): readonly Route[] {
  return [
    // Before the list, as with videos.
    getImageTask(deps),
    createImage({ ...deps, images }),
    editImage({ ...deps, images }),
    listImageTasks(deps),
  ];
}

function operatorRoutes(deps: RouteDeps, operatorAuth: OperatorAuth): readonly Route[] {
  return [
    createAccount(deps),
    listAccounts(deps),
    getAccount(deps),
    creditAccount(deps),
    listLedgerEntries(deps),
    verifyLedger(deps),
    rotateWebhookSecret(deps),
    setOverdraft(deps),
    closeAccount(deps),
    reopenAccount(deps),
    createKey(deps),
    listKeys(deps),
    rotateKey(deps),
    revokeKey(deps),
    listTasks(deps),
    findTasks(deps),
    getTask(deps),
    getTaskRecord(deps),
    actOnTask(deps),
    listAudit(deps),
    listChannels(deps),
    setChannel(deps),
    setCircuit(deps),
    listNotices(deps),
    testNotices(deps),
    explainRoute(deps),
    addOperator({ ...deps, operatorAuth }),
    listOperators(deps),
    revokeOperator({ ...deps, operatorAuth }),
    listNodes(deps),
    getConfig(deps),
    reloadConfig(deps),
  ];
}
