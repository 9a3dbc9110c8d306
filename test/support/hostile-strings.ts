/**
 * Every page must show these as plain text. They contain markup and scripts known to slip through filters, templates,
 * terminal control characters, and characters that change the writing direction. A script that runs calls `fault()`.
 */
export const hostileStrings: readonly string[] = [
  '<script>fault()</script>',
  '<img src=x onerror=fault()>',
  `"><svg/onload=fault()>`,
  `'><details open ontoggle=fault()>`,
  '</pre></code></title></textarea></style></script><iframe srcdoc="<script>parent.fault()</script>">',
  '<math><mtext></table><mglyph><style><img src onerror=fault()>',
  '<a href="javascript:fault()">x</a>',
  'javascript:fault()//https://a.example/1.mp4',
  'data:text/html,<script>fault()</script>',
  '<base href="https://evil.example/"><link rel=stylesheet href=//evil.example/x.css>',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '<form action=//evil.example><button autofocus onfocus=fault()>',
  '{{constructor.constructor("fault()")()}}${fault()}#{fault()}<%= fault() %>',
  '`${fault()}` `gateway nodes` `adopt`',
  '&lt;script&gt;fault()&lt;/script&gt;&#x3c;img src=x onerror=fault()&#x3e;',
  '__proto__',
  'constructor',
];

/** Names must not contain control characters, but other text shown in terminals and on pages may. */
export const hostileControls: readonly string[] = [
  '\u001b[31mred\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007',
  '\u001b[2J\u001b[H\u0007\u0008\u0000',
  '\u202e4pm.gnp\u202c \u2066hidden\u2069 \u200b\ufeff',
  '\ud800 half a pair',
];
