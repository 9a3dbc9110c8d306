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

const outOfService: ReadonlySet<DroppedChannel['reason']> = new Set([
  'disabled',
  'circuit_open',
  'no_worker',
  'at_concurrency_limit',
]);

export function explainNoChannel(
  model: ModelConfig,
  dropped: readonly DroppedChannel[],
  issues: readonly RequestIssue[],
): GatewayError {
  const detail = dropped
    .map(({ channel, reason, detail: why }) => `${channel}: ${reason} (${why})`)
    .join('; ');
  const serving = dropped.filter(({ reason }) => reason !== 'model_not_served');
  const [issue] = issues;
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
      {
        param: 'model',
        detail,
      },
    );
  }
  if (serving.some(({ reason }) => outOfService.has(reason))) {
    return new GatewayError(
      'service_unavailable',
      `Every channel of ${model.id} is out of service at the moment.`,
      {
        retryAfterSeconds: 30,
        detail,
      },
    );
  }
  return new GatewayError('model_not_found', `No channel serves ${model.id}.`, { param: 'model', detail });
}
