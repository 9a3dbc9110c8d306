import { createArkDialect } from './dialects/ark.ts';
import { createBflDialect } from './dialects/bfl.ts';
import { createDashScopeDialect } from './dialects/dashscope.ts';
import { createFalDialect } from './dialects/fal.ts';
import { createGoogleDialect } from './dialects/google.ts';
import { createKlingDialect } from './dialects/kling.ts';
import { createLumaDialect } from './dialects/luma.ts';
import { createMiniMaxDialect } from './dialects/minimax.ts';
import { createMiniMaxV1Dialect } from './dialects/minimax-v1.ts';
import { createNewApiDialect } from './dialects/new-api.ts';
import { createOpenAiDialect } from './dialects/openai-images.ts';
import { createOpenRouterDialect } from './dialects/openrouter.ts';
import { createReplicateDialect } from './dialects/replicate.ts';
import { createRunwayDialect } from './dialects/runway.ts';
import { createSeedreamDialect } from './dialects/seedream.ts';
import { createStabilityDialect } from './dialects/stability.ts';
import { createViduDialect } from './dialects/vidu.ts';
import { createXaiDialect } from './dialects/xai.ts';
import type { CreateDialect } from './dialect.ts';

/** Every wire format that the simulator speaks: one row each. */
export const dialects: readonly CreateDialect[] = [
  createArkDialect,
  createSeedreamDialect,
  createOpenAiDialect,
  createNewApiDialect,
  createDashScopeDialect,
  createKlingDialect,
  createBflDialect,
  createGoogleDialect,
  createFalDialect,
  createLumaDialect,
  createMiniMaxDialect,
  createMiniMaxV1Dialect,
  createOpenRouterDialect,
  createReplicateDialect,
  createRunwayDialect,
  createStabilityDialect,
  createViduDialect,
  createXaiDialect,
];
