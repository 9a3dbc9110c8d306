import { copyText } from '../shared/copy.js';
import { html, render } from '../shared/preact.js';
import { root } from '../shared/root.js';
import { Search } from './search.js';
import { Try } from './try.js';

const page = document.documentElement;
const contents = document.getElementById('contents');
const copiedMs = 2_000;

// The server may not know the URL at which the browser reaches it, so correct the URL in the examples.
const written = page.dataset['origin'] ?? '';
const origin = root.replace(/\/$/, '');
if (written !== origin)
  for (const code of document.querySelectorAll('.program code'))
    code.textContent = code.textContent.replaceAll(written, origin);

/** @param {string} language */
function choose(language) {
  page.dataset['language'] = language;
  for (const button of document.querySelectorAll('.examples button[data-language]'))
    button.setAttribute(
      'aria-pressed',
      String(button instanceof HTMLElement && button.dataset['language'] === language),
    );
}

/** @param {HTMLElement} button */
async function copy(button) {
  const shown = `.program[data-language="${page.dataset['language'] ?? ''}"]`;
  button.textContent = await copyText(button.closest('.examples')?.querySelector(shown)?.textContent ?? '');
  setTimeout(() => (button.textContent = 'Copy'), copiedMs);
}

/** @param {HTMLElement} button */
function openTry(button) {
  const place = button.parentElement;
  const request = button.closest('section')?.dataset['request'];
  if (place === null || request === undefined) return;
  button.remove();
  render(html`<${Try} tried=${JSON.parse(request)} />`, place);
  place.querySelector('input')?.focus();
}

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element)) return;
  const button = target.closest('button');
  if (button?.matches('.examples [data-language]')) choose(button.dataset['language'] ?? '');
  if (button?.matches('.copy')) void copy(button);
  if (button?.matches('.try')) openTry(button);
  if (target.closest('#contents a') !== null && contents?.matches(':popover-open')) contents.hidePopover();
});

// The page contains each named schema's fields only once. When another section for that schema is opened, copy them
// into it.
document.addEventListener(
  'toggle',
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.open) return;
    const name = target.dataset['object'];
    if (name !== undefined && target.dataset['filled'] === undefined) fill(target, name);
  },
  true,
);

/**
 * @param {HTMLDetailsElement} details
 * @param {string} name
 */
function fill(details, name) {
  const source = document.getElementById(name);
  const parts = [...(source?.children ?? [])].filter((part) => !part.matches('summary'));
  if (parts.length === 0) return;
  details.dataset['filled'] = '';
  details.querySelector('a')?.remove();
  for (const part of parts) {
    const copied = /** @type {Element} */ (part.cloneNode(true));
    for (const element of [copied, ...copied.querySelectorAll('[id]')]) element.removeAttribute('id');
    for (const inner of copied.querySelectorAll('details')) inner.open = false;
    details.append(copied);
  }
}

/** @param {string} href */
function go(href) {
  location.href = href;
  reveal();
}

function reveal() {
  const target = document.getElementById(decoded(location.hash.slice(1)));
  for (let at = target; at !== null; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  if (target === null) return;
  target.scrollIntoView();
  const section = target.closest('.operation');
  for (const link of contents?.querySelectorAll('a') ?? [])
    if (section !== null && link.getAttribute('href') === `#${section.id}`) mark(link);
    else link.removeAttribute('aria-current');
}

/** @param {Element} link */
function mark(link) {
  link.setAttribute('aria-current', 'true');
  const group = link.closest('details');
  if (group !== null) group.open = true;
  link.scrollIntoView({ block: 'nearest' });
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const search = document.getElementById('search');
if (search !== null) render(html`<${Search} onChosen=${go} />`, search);
page.classList.add('scripted');
choose('curl');
addEventListener('hashchange', reveal);
if (location.hash !== '') reveal();
