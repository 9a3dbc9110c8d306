import { html } from '../shared/preact.js';
import { SignIn as SharedSignIn } from '../shared/sign-in.js';

/** @param {{ expired: boolean, signIn: (token: string) => Promise<void> }} props */
export function SignIn(props) {
  return html`<${SharedSignIn} ...${words} ...${props} />`;
}

const words = {
  title: 'Mediary console',
  lead: 'For operators. The token stays in this tab until it is closed.',
  label: 'Operator’s token',
  gone: 'The token is no longer valid. Sign in again.',
  hint: html`ADMIN_TOKEN of the configuration, or a token of <code>gateway operators add NAME</code>.`,
};
