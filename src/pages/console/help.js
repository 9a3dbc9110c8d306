import { Dialog } from '../shared/dialog.js';
import { html } from '../shared/preact.js';

const keys = [
  ['/', 'Find by part of an id, a name or words from an error'],
  ['j  k', 'Next and previous row'],
  ['Enter', 'Open the focused row, or press the focused button'],
  ['x', 'Select or deselect the row'],
  ['a', 'Act on the selected tasks or, on a task’s page, go to its actions'],
  ['Escape', 'Close a dialog, or leave a field'],
  ['?', 'This list'],
];

/** @param {{ onClose: () => void }} props */
export function Help({ onClose }) {
  return html`<${Dialog} title="Shortcuts" onClose=${onClose}>
    <dl class="facts">
      ${keys.map(
        ([key, what]) =>
          html`<dt><kbd>${key}</kbd></dt>
            <dd>${what}</dd>`,
      )}
    </dl>
  <//>`;
}
