import { Dialog } from '../shared/dialog.js';
import { html, useEffect, useLayoutEffect, useRef, useState } from '../shared/preact.js';
import { findIn } from './find.js';
import { readIndex } from './index-of-page.js';

const shownMax = 30;

/**
 * The keys `/`, Ctrl+K and ⌘K also open the search.
 *
 * @param {{ onChosen: (href: string) => void }} props
 */
export function Search({ onChosen }) {
  const [isOpen, setOpen] = useState(false);
  // Listen before the button is painted, so that no early key press is lost.
  useLayoutEffect(() => {
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select');
      const isAsked = event.key === '/' || (event.key === 'k' && (event.metaKey || event.ctrlKey));
      if (!isAsked || isTyping) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const choose = (/** @type {string} */ href) => {
    setOpen(false);
    onChosen(href);
  };
  return html`<button class="search" onClick=${() => setOpen(true)}>Search <kbd>/</kbd></button>
    ${isOpen && html`<${SearchDialog} onChosen=${choose} onClose=${() => setOpen(false)} />`}`;
}

/** @param {{ onChosen: (href: string) => void, onClose: () => void }} props */
function SearchDialog({ onChosen, onClose }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [entries] = useState(readIndex);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const found = findIn(entries, text, shownMax);
  const current = Math.min(at, found.length - 1);
  useEffect(() => list.current?.children[current]?.scrollIntoView({ block: 'nearest' }), [current]);

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, current + step)));
    }
    if (event.key === 'Enter' && found[current] !== undefined) {
      event.preventDefault();
      onChosen(found[current].href);
    }
  }

  return html`<${Dialog} title="Search" onClose=${onClose}>
    <input
      class="looking"
      type="search"
      role="combobox"
      aria-label="Operations, fields, errors and guides"
      aria-expanded=${found.length > 0}
      aria-controls="found"
      aria-activedescendant=${found.length > 0 ? `found-${current}` : undefined}
      placeholder="Operations, fields, errors, guides"
      autofocus
      value=${text}
      onKeyDown=${onKey}
      onInput=${(/** @type {InputEvent & { currentTarget: HTMLInputElement }} */ event) => {
        setText(event.currentTarget.value);
        setAt(0);
      }}
    />
    <ul class="results" id="found" role="listbox" aria-label="Found" ref=${list}>
      ${found.map(
        ({ kind, title, detail, href }, index) =>
          html`<li
            role="option"
            id=${`found-${index}`}
            aria-selected=${index === current}
            onClick=${() => onChosen(href)}
          >
            ${title} <span class="small soft">${kind === 'Operation' ? '' : `${kind} `}${detail}</span>
          </li>`,
      )}
    </ul>
    ${text.trim() !== '' && found.length === 0 && html`<p class="soft" role="status">Nothing contains these words.</p>`}
  <//>`;
}
