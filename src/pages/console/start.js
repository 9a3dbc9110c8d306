import { errorOf } from '../shared/api.js';
import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Secret } from '../shared/secret.js';
import { createDialog, WebhookSecret } from './accounts.js';
import { addChosen, ModelFields, nothingChosen, UpstreamFields, useCatalogue } from './add-model.js';
import { Confirm, Mistake } from './confirm.js';
import { NewKey } from './new-key.js';
import { PriceLines } from './price-lines.js';
import { linkTo } from './router.js';

/** @typedef {import('./types.d.ts').ConfigDraft} Draft */

const draftPath = '/admin/v1/config/draft';
const noSimulator = html`The simulator, which makes test videos free of charge, is not offered here, because
  only <code>npm start</code> in a directory without a <code>gateway.yaml</code> starts it.`;
const stepNames = ['Upstream', 'Model and price', 'Account and key'];

/** @param {import('./types.d.ts').PageProps} props */
export function Start(props) {
  const { api, may, currency } = props;
  const [step, setStep] = useState(0);
  const [chosen, setChosen] = useState(nothingChosen);
  const catalogue = useCatalogue(api);
  const mayEdit = may('editConfigDraft');
  /** @type {import('../shared/live.js').Live<readonly import('./add-model.js').OwnChannel[]>} */
  const channels = useLive(
    draftPath,
    async (signal) => {
      if (!mayEdit) return [];
      /** @type {import('./types.d.ts').ConfigDraft} */
      const draft = await api.get(draftPath, signal);
      return draft.channels;
    },
    0,
  );
  const next = () => setStep(step + 1);
  if (catalogue.data === undefined || channels.data === undefined)
    return html`<main>
      <h1>First steps</h1>
      <${LiveState} live=${catalogue.data === undefined ? catalogue : channels} />
    </main>`;
  const own = channels.data;
  const shared = { api, currency, catalogue: catalogue.data.data, own, chosen, onChange: setChosen, next };
  return html`<main class="start">
    <h1>First steps</h1>
    <ol class="row">
      ${stepNames.map((name, at) => html`<li aria-current=${at === step ? 'step' : undefined}>${name}</li>`)}
    </ol>
    ${step < 2 && !mayEdit && html`<p class="notice">You need the role “configuration” for this step. Skip it, or ask somebody who has that role.</p>`}
    ${step === 0 && html`<${Upstream} ...${shared} may=${may} />`}
    ${step === 1 && html`<${Sell} ...${shared} may=${may} />`}
    ${step === 2 && html`<${Open} api=${api} may=${may} currency=${currency} next=${next} />`}
    ${
      step > 2 &&
      html`<p>The gateway is set up.</p>
        <p class="row">
          <a href=${linkTo(['now'])}>See what happens now</a>
          <a href="account#/playground">Make a video in the playground</a>
        </p>`
    }
  </main>`;
}

/**
 * @typedef {{
 *   api: import('./types.d.ts').Api, may: (word: string) => boolean, currency: string,
 *   catalogue: readonly import('./types.d.ts').CatalogueModel[], own: readonly import('./add-model.js').OwnChannel[],
 *   chosen: import('./add-model.js').Chosen, onChange: (chosen: import('./add-model.js').Chosen) => void, next: () => void,
 * }} StepProps
 */

/** @param {StepProps} props */
function Upstream(props) {
  const { own, chosen, may, next } = props;
  return html`<h2>Who renders for you?</h2>
    ${
      may('editConfigDraft') &&
      html`<p class="soft">
          ${own.length === 0 ? html`No upstream is configured yet. ${noSimulator}` : `${counted(own.length, 'upstream')} ${own.length === 1 ? 'is' : 'are'} configured already. You can use one of them, or add a vendor.`}
        </p>
        <${UpstreamFields} ...${props} />`
    }
    <${Ends} next=${next} title="Continue" isOff=${chosen.channel === ''} onPress=${next} />`;
}

/** @param {StepProps} props */
function Sell(props) {
  const { api, chosen, may, next } = props;
  const [draft, setDraft] = useState(/** @type {Draft | undefined} */ (undefined));
  const [verdict, setVerdict] = useState('');
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  async function add() {
    setBusy(true);
    setError(undefined);
    try {
      const added = await addChosen(api, chosen);
      setDraft(added);
      if (chosen.apiKey !== '' && added.violations.length === 0) {
        const asked = { channel: chosen.channel, credential: 'main' };
        /** @type {{ words: string }} */
        const { words } = await api.post(`${draftPath}/credentials/try`, asked);
        setVerdict(words);
      }
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    setBusy(false);
  }

  if (chosen.channel === '' || !may('addCatalogueModel'))
    return html`<h2>What do you sell?</h2>
      <p class="soft">
        You have not chosen an upstream. You can also add models and prices on the page
        <a href=${linkTo(['configuration'])}>Configuration</a>.
      </p>
      <${Ends} next=${next} />`;
  if (draft === undefined)
    return html`<h2>What do you sell, and for how much?</h2>
      <${ModelFields} ...${props} error=${error} />
      <${Mistake} error=${error} others=${['model', 'markup_percent']} />
      <p class="notice">
        Adds the model to the
        draft${chosen.apiKey === '' ? '' : ', and asks the vendor, free of charge, whether it accepts the key'}.
        Nothing is sold yet.
      </p>
      <${Ends}
        next=${next}
        title="Add to the draft"
        isOff=${isBusy || chosen.model === ''}
        onPress=${() => void add()}
      />`;
  return html`<${Publish}
    api=${api}
    currency=${props.currency}
    model=${chosen.model}
    draft=${draft}
    verdict=${verdict}
    error=${error}
    next=${next}
  />`;
}

/**
 * @param {Pick<StepProps, 'api' | 'currency' | 'next'> & { model: string, draft: Draft, verdict: string, error: Error | undefined }}
 * props `verdict`: the result of testing the key at the vendor. Empty if it was not tested.
 */
function Publish({ api, currency, model, draft, verdict, error, next }) {
  const sold = draft.models.find(({ id }) => id === model);
  const [isPublishing, setPublishing] = useState(false);
  return html`<h2>Publish it?</h2>
    ${verdict !== '' && html`<p role="status">${verdict}</p>`}
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${
      draft.violations.length > 0
        ? html`<ul class="notice bad" role="alert">
            ${draft.violations.map(({ path: where, message }) => html`<li><code>${where}</code> ${message}</li>`)}
          </ul>`
        : html`<p>The draft has ${counted(draft.changes.length, 'change')} and no errors.</p>
            ${
              sold &&
              html`<p>You sell ${model} at these prices, in ${currency}:</p>
                <${PriceLines} price=${{ minimum: '0', lines: sold.lines }} />`
            }`
    }
    <${Ends}
      next=${next}
      title="Publish"
      isOff=${draft.violations.length > 0 || !draft.publishable}
      onPress=${() => setPublishing(true)}
    />
    ${
      isPublishing &&
      html`<${Confirm}
        title="Publish the draft"
        button="Publish"
        fields=${[{ name: 'reason', label: 'Reason', value: `sell ${model}` }]}
        effect=${() => `All processes load the configuration within seconds. From then on, keys may use ${model}.`}
        run=${async (/** @type {{ reason: string }} */ { reason }) => {
          await api.post(`${draftPath}/publish`, { revision: draft.revision, reason });
          next();
        }}
        onClose=${() => setPublishing(false)}
      />`
    }`;
}

/** @param {Pick<StepProps, 'api' | 'may' | 'currency' | 'next'>} props */
function Open({ api, may, currency, next }) {
  const [isCreating, setCreating] = useState(false);
  const [account, setAccount] = useState(
    /** @type {import('./accounts.js').Created | undefined} */ (undefined),
  );
  const [isStored, setStored] = useState(false);
  const [issued, setIssued] = useState(/** @type {import('./new-key.js').Issued | undefined} */ (undefined));
  return html`<h2>Who buys from you?</h2>
    <p class="soft">An account has a balance. Its keys create videos and spend from it.</p>
    ${!may('createAccount') && html`<p class="notice">You need the role “access” for this step.</p>`}
    <${Ends}
      next=${next}
      title="Create an account"
      isOff=${!may('createAccount')}
      onPress=${() => setCreating(true)}
    />
    ${isCreating && account === undefined && html`<${Confirm} ...${createDialog({ api, may, currency, onCreated: setAccount })} onClose=${() => setCreating(false)} />`}
    ${account && !isStored && html`<${WebhookSecret} of=${account} onClose=${() => setStored(true)} />`}
    ${
      account &&
      isStored &&
      issued === undefined &&
      html`<${NewKey}
        api=${api}
        account=${account.id}
        currency=${currency}
        may=${may}
        onIssued=${setIssued}
        onClose=${() => setAccount(undefined)}
      />`
    }
    ${issued && html`<${Secret} ...${issued} onClose=${next} />`}`;
}

/**
 * @param {{ next: () => void, title?: string, isOff?: boolean, onPress?: () => void }} props Without `title`, the step
 * can only be skipped.
 */
function Ends({ next, title, isOff = false, onPress }) {
  return html`<p class="row">
    ${title !== undefined && html`<button class="main" disabled=${isOff} onClick=${onPress}>${title}</button>`}
    <button onClick=${next}>Skip</button>
  </p>`;
}
