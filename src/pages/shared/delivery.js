/** @type {Record<string, string>} */
const failures = {
  no_answer: 'no response',
  not_sent: 'not sent',
  address_refused: 'the address is not public',
  invalid_request: 'the address cannot be used',
  dns_failed: 'the host name could not be resolved',
  connect_failed: 'the connection was refused',
  connect_timeout: 'no connection in time',
  tls_failed: 'no secure connection (TLS)',
  timeout: 'no response in time',
  aborted: 'cancelled',
  connection_lost: 'the connection broke',
  encoded_answer: 'the response is compressed',
  answer_too_large: 'the response is too large',
  bad_status: 'unexpected status',
  too_many_redirects: 'too many redirects',
};

/** @param {{ status: number | null, error: string | null }} sent */
export function answerOf({ status, error }) {
  if (status !== null) return String(status);
  return error === null ? '–' : (failures[error] ?? `no response (${error})`);
}
