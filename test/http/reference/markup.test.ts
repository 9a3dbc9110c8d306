import { expect, it } from 'vitest';
import { html } from '../../../src/http/reference/markup.ts';

it('values are escaped, and quotes only where they would end an attribute', () => {
  const hostile = `"'<b>&`;
  const inner = html`<i>${hostile}</i>`;
  expect(html`<a href="${hostile}#${hostile}" title="${[hostile]}">${[hostile, inner]}</a>`.text).toBe(
    `<a href="&quot;&#39;&lt;b&gt;&amp;#&quot;&#39;&lt;b&gt;&amp;" title="&quot;&#39;&lt;b&gt;&amp;">"'&lt;b&gt;&amp;<i>"'&lt;b&gt;&amp;</i></a>`,
  );
});
