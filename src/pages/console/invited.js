import { Invitation } from '../shared/invitation.js';
import { Facts } from '../shared/parts.js';
import { html } from '../shared/preact.js';

/** @typedef {import('./types.d.ts').Operator} Operator */

/** @param {{ link: string, onDone: (token: string) => void, onLeave: () => void }} props */
export function Invited(props) {
  return html`<${Invitation}
    ...${props}
    client="console"
    path="/invitations/operators/accept"
    title="Your operator’s token"
    describe=${describe}
    secretOf=${(/** @type {{ token?: string }} */ { token }) => token}
    note="Keep it: the console asks for it at the next sign-in. On the command line, set it as OPERATOR_TOKEN."
  />`;
}

/** @param {Operator} operator */
function describe({ name, roles, created_by: by }) {
  return html`<p>
      This link gives you an operator’s token. It works only once, and nobody else has seen the token.
    </p>
    <${Facts}
      rows=${[
        ['Your name', name],
        ['Your roles', roles.join(', ')],
        ['Invited by', by],
      ]}
    />`;
}
