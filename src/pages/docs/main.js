/** The question: what does this API do, and what does it answer me? */
import { root } from '../shared/root.js';
import { createSession } from '../shared/session.js';

const session = createSession('mediary.key');

/** Tags without attributes, and the one class that the document's texts have. */
const plainTags =
  /<\/?(?:p|code|em|strong|ul|ol|li|br|pre|h[1-6]|table|thead|tbody|tr|th|td|span|div)(?: class="(?:renderedMarkdown|markdown)")?\s*\/?>/g;

// Swagger UI sets markup that DOMPurify has cleaned as text. What is more than plain tags is refused all the same.
globalThis.trustedTypes?.createPolicy('default', {
  createHTML: (/** @type {string} */ text) => (text.replace(plainTags, '').includes('<') ? null : text),
});

if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode');

const ui = globalThis.SwaggerUIBundle({
  url: `${root}openapi.json`,
  requestInterceptor: belowRoot,
  dom_id: '#api',
  presets: [globalThis.SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  // It would ask a server of its own.
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  deepLinking: true,
  displayRequestDuration: true,
  syntaxHighlight: { activated: false },
  onComplete: () => use(session.token()),
});

/**
 * The document names paths, which begin behind the address of the gateway.
 *
 * @param {{ url: string, loadSpec?: boolean }} request
 */
function belowRoot(request) {
  const { pathname, search } = new URL(request.url, root);
  return request.loadSpec === true ? request : { ...request, url: `${root}${pathname.slice(1)}${search}` };
}

const form = document.getElementById('key');
const input = document.getElementById('key-input');
const state = document.getElementById('key-state');

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!(input instanceof HTMLInputElement)) return;
  const key = input.value.trim();
  if (key === '') session.signOut();
  else session.signIn(key);
  use(key === '' ? undefined : key);
  input.value = '';
});

// Before, the browser itself would have sent the form.
form?.querySelector('button')?.removeAttribute('disabled');

let isUsed = false;

/** @param {string | undefined} key An API key, or an operator’s token for the operators’ part. */
function use(key) {
  for (const scheme of ['apiKey', 'adminToken']) {
    // Swagger UI can only sign out who is signed in.
    if (key !== undefined) ui.preauthorizeApiKey(scheme, key);
    else if (isUsed) ui.authActions.logout([scheme]);
  }
  isUsed = key !== undefined;
  if (state !== null)
    state.textContent = key === undefined ? '' : `The requests below carry the key ${key.slice(0, 6)}…`;
}
