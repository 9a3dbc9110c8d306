import type { ModelConfig } from '../config/gateway-file.ts';
import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import type { DroppedChannel } from '../task/candidates.ts';
import type { RequestIssue } from '../providers/provider.ts';

export class NoChannelError extends GatewayError {
  readonly dropped: readonly DroppedChannel[];

  constructor(error: GatewayError, dropped: readonly DroppedChannel[]) {
    const { code, message, param, detail, retryAfterSeconds } = error;
    super(code, message, {
      param,
      ...defined({ detail }),
      ...defined({ retryAfterSeconds }),
    });
    this.dropped = dropped;
  }
}

/** Such a channel could serve the request, and will do so again without an operator's decision. */
const temporary: ReadonlySet<DroppedChannel['reason']> = new Set([
  'circuit_open',
  'no_worker',
  'at_concurrency_limit',
]);

interface Objections {
  readonly issues: readonly RequestIssue[];
  readonly limits: readonly RequestIssue[];
}

/** A temporary reason comes first, because an objection of another channel would not be true of the model. */
export function explainNoChannel(
  model: ModelConfig,
  dropped: readonly DroppedChannel[],
  { issues: [issue], limits: [limit] }: Objections,
): GatewayError {
  const detail = dropped
    .map(({ channel, reason, detail: why }) => `${channel}: ${reason} (${why})`)
    .join('; ');
  const serving = dropped.filter(({ reason }) => reason !== 'model_not_served');
  const isOut = ({ reason }: DroppedChannel): boolean => reason === 'disabled' || temporary.has(reason);
  const outOfService = (): GatewayError => {
    const which = serving.every(isOut) ? '' : ' that can serve this request';
    const message = `Every channel of ${model.id}${which} is out of service at the moment.`;
    return new GatewayError('service_unavailable', message, { retryAfterSeconds: 30, detail });
  };
  if (serving.some(({ reason }) => temporary.has(reason))) return outOfService();
  if (limit !== undefined)
    return new GatewayError('key_not_allowed', limit.message, { param: limit.param, detail });
  if (issue !== undefined)
    return new GatewayError('unsupported_parameter', issue.message, { param: issue.param, detail });
  if (serving.length > 0 && serving.every(({ reason }) => reason === 'not_permitted')) {
    return new GatewayError(
      'channel_not_allowed',
      `This API key has no access to a channel that serves ${model.id}.`,
      { param: 'model', detail },
    );
  }
  if (serving.some(({ reason }) => reason === 'no_price')) {
    return new GatewayError(
      'unsupported_parameter',
      `Model ${model.id} has no price for this combination of parameters.`,
      { param: 'model', detail },
    );
  }
  if (serving.some(isOut)) return outOfService();
  return new GatewayError('model_not_found', `No channel serves ${model.id}.`, { param: 'model', detail });
}
