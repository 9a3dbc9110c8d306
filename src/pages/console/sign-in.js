import { html } from '../shared/preact.js';
import { SignIn as SharedSignIn } from '../shared/sign-in.js';

/** @param {{ expired: boolean, signIn: (token: string) => Promise<void> }} props */
export function SignIn(props) {
  return html`<${SharedSignIn} ...${words} ...${props} />`;
}

const words = {
  title: 'Mediary console',
  lead: 'For operators. A session ends after twelve hours, or when its tab is closed.',
  label: 'Operator’s token',
  gone: 'Your session has ended. Sign in again.',
  hint: html`The gateway’s ADMIN_TOKEN, or a token from <code>gateway operators add NAME</code>.`,
};
