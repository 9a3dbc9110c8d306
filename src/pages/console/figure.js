import { html } from '../shared/preact.js';

/** @param {{ title: string, value: string, more?: unknown, link?: string }} props */
export function Figure({ title, value, more, link }) {
  return html`<div class="figure">
    <div class="small soft">${link === undefined ? title : html`<a href=${link}>${title}</a>`}</div>
    <div class="value">${value}</div>
    ${more && html`<div class="small soft">${more}</div>`}
  </div>`;
}
