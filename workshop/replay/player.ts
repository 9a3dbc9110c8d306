import { defined } from '../../src/base/defined.ts';
import { parseJson } from '../../src/base/parse-json.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import type { HttpRequest, HttpRequestOptions, HttpResponse } from '../../src/providers/provider.ts';
import { compareJson } from './compare-json.ts';
import { shapeOf } from '../../src/flight/describe-call.ts';
import type { RecordedCall, RecordedExchange } from '../../src/flight/recorded-call.ts';
import { redactUrl } from '../../src/flight/redact.ts';
import type { Hidden } from '../../src/flight/redact.ts';

/** Answers an adapter from a record, in order, and remembers where it asked for something else. */
export interface Player {
  readonly request: HttpRequest;
  /** What the adapter did otherwise than recorded, in sentences. */
  differences(): readonly string[];
  /** An answer was too large to be kept: what the adapter made of it cannot be compared. */
  readonly isIncomplete: boolean;
}

export function createPlayer({ exchanges }: Pick<RecordedCall, 'exchanges'>, hidden: Hidden): Player {
  const differences: string[] = [];
  let served = 0;
  const request: HttpRequest = (asked) => {
    const url = redactUrl(asked.url, hidden);
    const recorded = exchanges[served];
    if (recorded === undefined) {
      differences.push(`The adapter sends ${asked.method} ${url}, which was not recorded.`);
      return Promise.reject(notRecorded());
    }
    served += 1;
    if (recorded.method !== asked.method || recorded.url !== url) {
      differences.push(
        `The adapter sends ${asked.method} ${url}; recorded is ${recorded.method} ${recorded.url}.`,
      );
      return Promise.reject(notRecorded());
    }
    differences.push(...compareBodies(recorded, asked, hidden));
    return answer(recorded);
  };
  return {
    request,
    isIncomplete: exchanges.some(
      ({ status, body, failure }) => status !== undefined && body === undefined && failure === undefined,
    ),
    differences() {
      const left = exchanges.slice(served).map(({ method, url }) => `${method} ${url}`);
      return left.length === 0
        ? differences
        : [...differences, `The adapter no longer sends ${left.join(', ')}.`];
    },
  };
}

function notRecorded(): UpstreamError {
  return new UpstreamError('not_sent', 'The request was not recorded.', { code: 'not_recorded' });
}

function compareBodies(recorded: RecordedExchange, asked: HttpRequestOptions, hidden: Hidden): string[] {
  const shape = shapeOf(asked, hidden);
  const same = compareJson(parseJson(recorded.shape ?? 'null'), parseJson(shape ?? 'null'));
  return same.map((difference) => `The body of ${recorded.method} ${recorded.url} differs: ${difference}.`);
}

function answer(recorded: RecordedExchange): Promise<HttpResponse> {
  const { status, headers = {}, body = '', json, failure } = recorded;
  if (failure !== undefined || status === undefined) {
    const { outcome, code } = failure ?? { outcome: 'ambiguous', code: 'no_answer' };
    return Promise.reject(new UpstreamError(outcome, 'As recorded.', { code, ...defined({ status }) }));
  }
  return Promise.resolve({ status, headers, text: body, json: json === true ? parseJson(body) : undefined });
}
