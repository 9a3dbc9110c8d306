import { html, useState } from '../shared/preact.js';
import { sourceOf } from '../shared/source.js';

/** @typedef {import('./types.js').Task} Task */

/** @param {{ task: Task }} props */
export function Thumbnail({ task }) {
  const [item] = task.data;
  const { src, isOurs } = sourceOf(item?.url ?? '');
  if (task.status !== 'succeeded')
    return html`<span class="soft">${task.progress !== undefined && `${task.progress} %`}</span>`;
  if (item?.b64_json !== undefined) return html`<img src=${dataUrl(item.b64_json)} alt="" />`;
  if (!isOurs) return html`<span class="soft">at the upstream</span>`;
  return isVideo(task)
    ? html`<video src=${`${src}#t=0.1`} preload="metadata" muted playsinline tabindex="-1"></video>`
    : html`<img src=${src} alt="" loading="lazy" />`;
}

/** @param {{ task: Task }} props */
export function Results({ task }) {
  return html`<div class="result">
    ${task.data.map((item, index) => {
      if (item.b64_json !== undefined)
        return html`<img src=${dataUrl(item.b64_json)} alt=${`Result ${index + 1}`} />`;
      const { url = '', last_frame_url: lastFrame } = item;
      return html`<${Result} url=${url} isVideo=${isVideo(task)} /> ${
          lastFrame !== undefined &&
          html`<h3 class="small">Last frame</h3>
            <${Result} url=${lastFrame} isVideo=${false} />`
        }`;
    })}
  </div>`;
}

/** @param {{ url: string, isVideo: boolean }} props */
function Result({ url, isVideo: isMoving }) {
  const { src, isOurs } = sourceOf(url);
  const [isGone, setGone] = useState(false);
  if (src === '') return html`<p>${url}</p>`;
  const onError = () => setGone(true);
  const shown = isMoving
    ? html`<video src=${`${src}#t=0.01`} controls preload="metadata" onError=${onError}></video>`
    : html`<img src=${src} alt="Result" onError=${onError} />`;
  return html`${isOurs && !isGone ? shown : null}
    ${isGone ? html`<p class="notice">The file cannot be displayed. It may have expired.</p>` : null}
    <p>
      <a href=${src} target="_blank" rel="noreferrer">${isOurs ? 'Open the file' : 'Open at the upstream'}</a>
      ${isOurs && html` · <a href=${src} download>Download</a>`}
    </p>`;
}

/** @param {Task} task */
function isVideo({ object }) {
  return object.startsWith('video');
}

/** @param {string} base64 */
export function dataUrl(base64) {
  const type = base64.startsWith('/9j/') ? 'jpeg' : base64.startsWith('UklGR') ? 'webp' : 'png';
  return `data:image/${type};base64,${base64}`;
}
