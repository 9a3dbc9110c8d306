import { ark } from './ark/index.ts';
import { bfl } from './bfl/index.ts';
import { dashscope } from './dashscope/index.ts';
import { fal } from './fal/index.ts';
import { google } from './google/index.ts';
import { gateway } from './gateway/gateway.ts';
import { kling } from './kling/index.ts';
import { minimax } from './minimax/index.ts';
import { openai } from './openai/openai.ts';
import { openrouter } from './openrouter/index.ts';
import { replicate } from './replicate/index.ts';
import { runway } from './runway/index.ts';
import { vidu } from './vidu/index.ts';
import { xai } from './xai/index.ts';
import { parameterNames } from '../models/facts-table.ts';
import { linkLifeMinSeconds, needsStorage } from './links.ts';
import type { Provider } from './provider.ts';
import { withTypedAnswers } from './typed-answers.ts';
import { builtInFile, builtInProvider } from './vendor-files/built-in.ts';

export const builtInFiles = {
  luma: builtInFile(new URL('luma/luma.yaml', import.meta.url)),
  stability: builtInFile(new URL('stability/stability.yaml', import.meta.url)),
};

const vendors = {
  ark,
  bfl,
  dashscope,
  fal,
  gateway,
  google,
  kling,
  luma: builtInProvider(builtInFiles.luma),
  minimax,
  openai,
  openrouter,
  replicate,
  runway,
  stability: builtInProvider(builtInFiles.stability),
  vidu,
  xai,
};

export const providers: Readonly<Record<string, Provider>> = Object.fromEntries(
  Object.entries(vendors).map(([name, provider]) => [name, withTypedAnswers(provider)]),
);

/** Fields beyond the common ones that at least one vendor accepts in image requests. */
export const vendorImageFields: ReadonlySet<string> = new Set(
  Object.values(providers).flatMap(({ image, imageTask }) =>
    [image?.facts, imageTask?.facts].flatMap((facts) => (facts === undefined ? [] : parameterNames(facts))),
  ),
);

export const adapters = {
  providerNames: Object.keys(providers),
  needingStorage: Object.entries(providers).flatMap(([name, provider]) =>
    needsStorage(provider) ? [name] : [],
  ),
  linkLifeMinSeconds,
  mapped: Object.entries(providers).flatMap(([name, { mapped }]) => (mapped === true ? [name] : [])),
};
