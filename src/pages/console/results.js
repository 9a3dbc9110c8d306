import { html } from '../shared/preact.js';
import { sourceOf } from '../shared/source.js';

/** @typedef {import('./types.d.ts').TaskDetail} TaskDetail */

/**
 * What the task made. Only what this gateway stores is shown; for what an upstream has there is a link, which the role
 * `read` sees without what opens it.
 *
 * @param {{ task: TaskDetail }} props
 */
export function Results({ task }) {
  const { data, kind, withheld_links: withheld } = task;
  return html`${data.length === 0 && withheld.length === 0 && html`<p class="soft">There is none.</p>`}
  ${data.map(
    ({ url = '', last_frame_url: lastFrame }) => html`
      <${Result} url=${url} kind=${kind} name=${kind} />
      ${lastFrame !== undefined && html`<${Result} url=${lastFrame} kind="image" name="last frame" />`}
    `,
  )}
  ${
    withheld.length > 0 &&
    html`<p class="notice warn">The upstream delivered this, and the caller does not get it:</p>
      ${withheld.map((url) => html`<${Result} url=${url} kind=${kind} name="withheld result" />`)}`
  }`;
}

/** @param {{ url: string, kind: string, name: string }} props */
function Result({ url, kind, name }) {
  const { src, isOurs } = sourceOf(url);
  if (src === '') return html`<p class="soft">${url === '' ? 'It is in the response only.' : url}</p>`;
  // Its first picture stands for it until it plays.
  const preview =
    kind === 'video'
      ? html`<video src=${`${src}#t=0.01`} controls preload="metadata"></video>`
      : html`<img src=${src} alt=${`The ${name}`} />`;
  return html`<figure>
    ${isOurs ? preview : null}
    <figcaption class="small row">
      <a href=${src} rel="noreferrer" target="_blank">Open the ${name}</a>
      ${isOurs && html`<a href=${src} download>Download</a>`}
    </figcaption>
  </figure>`;
}
