import type { ChannelConfig, GatewayConfig, ModelConfig } from '../config/gateway-file.ts';
import type { Caller } from '../access/caller.ts';
import { GatewayError } from '../errors/errors.ts';
import { didYouMean } from '../base/nearest.ts';

export function createPermittedModels(current: () => GatewayConfig) {
  const models = (caller: Caller): readonly ModelConfig[] =>
    current().models.filter(
      (model) =>
        (caller.models === undefined || caller.models.includes(model.id)) &&
        current().channels.some(
          (channel) => channel.models[model.id] !== undefined && isPermitted(channel, caller),
        ),
    );
  const model = (id: string, caller: Caller): ModelConfig => {
    const found = current().models.find((entry) => entry.id === id);
    if (found === undefined) {
      const nearest = didYouMean(
        id,
        models(caller).map((entry) => entry.id),
      );
      throw new GatewayError(
        'model_not_found',
        `There is no model "${id.slice(0, 80)}".${nearest} GET /v1/models lists the models.`,
        { param: 'model' },
      );
    }
    if (caller.models !== undefined && !caller.models.includes(id)) {
      throw new GatewayError('model_not_allowed', `This API key is not allowed to use the model ${id}.`, {
        param: 'model',
      });
    }
    return found;
  };
  return { models, model };
}

export function isPermitted(channel: ChannelConfig, caller: Caller): boolean {
  return caller.channels === undefined || caller.channels.includes(channel.id);
}
