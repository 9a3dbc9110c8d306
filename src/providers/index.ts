import { ark } from './ark/index.ts';
import { bfl } from './bfl/index.ts';
import { dashscope } from './dashscope/index.ts';
import { fal } from './fal/index.ts';
import { google } from './google/index.ts';
import { gateway } from './gateway/gateway.ts';
import { kling } from './kling/index.ts';
import { luma } from './luma/index.ts';
import { minimax } from './minimax/index.ts';
import { openai } from './openai/openai.ts';
import { openrouter } from './openrouter/index.ts';
import { replicate } from './replicate/index.ts';
import { runway } from './runway/index.ts';
import { stability } from './stability/index.ts';
import { vidu } from './vidu/index.ts';
import { xai } from './xai/index.ts';
import { parameterNames } from '../models/facts-table.ts';
import { linkLifeMinSeconds, needsStorage } from './links.ts';
import type { Provider } from './provider.ts';
import { withTypedAnswers } from './typed-answers.ts';

const vendors = {
  ark,
  bfl,
  dashscope,
  fal,
  gateway,
  google,
  kling,
  luma,
  minimax,
  openai,
  openrouter,
  replicate,
  runway,
  stability,
  vidu,
  xai,
};

/** Every adapter, by the name that `provider` of a channel in gateway.yaml uses. */
export const providers: Readonly<Record<string, Provider>> = Object.fromEntries(
  Object.entries(vendors).map(([name, provider]) => [name, withTypedAnswers(provider)]),
);

/** Fields of image requests that some vendor accepts beyond those that many do. */
export const vendorImageFields: ReadonlySet<string> = new Set(
  Object.values(providers).flatMap(({ image, imageTask }) =>
    [image?.facts, imageTask?.facts].flatMap((facts) => (facts === undefined ? [] : parameterNames(facts))),
  ),
);

/** What the configuration is checked against. */
export const adapters = {
  providerNames: Object.keys(providers),
  needingStorage: Object.entries(providers).flatMap(([name, provider]) =>
    needsStorage(provider) ? [name] : [],
  ),
  linkLifeMinSeconds,
  mapped: Object.entries(providers).flatMap(([name, { mapped }]) => (mapped === true ? [name] : [])),
};
