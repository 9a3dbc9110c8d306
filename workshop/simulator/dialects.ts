import type { CreateDialect } from './dialect.ts';
import { ark, seedream } from './dialects/ark.ts';
import { bfl } from './dialects/bfl.ts';
import { dashScope } from './dialects/dashscope.ts';
import { fal } from './dialects/fal.ts';
import { google } from './dialects/google.ts';
import { kling } from './dialects/kling.ts';
import { luma } from './dialects/luma.ts';
import { miniMaxV1 } from './dialects/minimax-v1.ts';
import { miniMax } from './dialects/minimax.ts';
import { newApi } from './dialects/new-api.ts';
import { openAi } from './dialects/openai-images.ts';
import { openRouter } from './dialects/openrouter.ts';
import { replicate } from './dialects/replicate.ts';
import { runway } from './dialects/runway.ts';
import { stability } from './dialects/stability.ts';
import { vidu } from './dialects/vidu.ts';
import { xai } from './dialects/xai.ts';

export const dialects: readonly CreateDialect[] = [
  ark,
  seedream,
  bfl,
  dashScope,
  fal,
  google,
  kling,
  luma,
  miniMaxV1,
  miniMax,
  newApi,
  openAi,
  openRouter,
  replicate,
  runway,
  stability,
  vidu,
  xai,
];
