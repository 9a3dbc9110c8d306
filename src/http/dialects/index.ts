import type { Route } from '../route.ts';
import { createArkImage } from './ark/create-ark-image.ts';
import { createArkTask } from './ark/create-ark-task.ts';
import { deleteArkTask } from './ark/delete-ark-task.ts';
import { getArkTask } from './ark/get-ark-task.ts';
import { listArkTasks } from './ark/list-ark-tasks.ts';
import { cancelFalRequest } from './fal/cancel-fal-request.ts';
import { getFalResult } from './fal/get-fal-result.ts';
import { getFalStatus } from './fal/get-fal-status.ts';
import { runFalRequest } from './fal/run-fal-request.ts';
import { streamFalRequest } from './fal/stream-fal-request.ts';
import { streamFalStatus } from './fal/stream-fal-status.ts';
import { submitFalRequest } from './fal/submit-fal-request.ts';
import { createChatCompletion } from './chat/create-chat-completion.ts';
import { createOpenrouterChat } from './openrouter/create-openrouter-chat.ts';
import type { DialectDeps } from './dialect-deps.ts';
import { createOpenaiVideo } from './openai/create-openai-video.ts';
import { deleteOpenaiVideo } from './openai/delete-openai-video.ts';
import { getOpenaiVideo } from './openai/get-openai-video.ts';
import { getOpenaiVideoContent } from './openai/get-openai-video-content.ts';
import { listOpenaiVideos } from './openai/list-openai-videos.ts';
import { remixOpenaiVideo } from './openai/remix-openai-video.ts';
import { createOpenrouterImage } from './openrouter/create-openrouter-image.ts';
import { createOpenrouterVideo } from './openrouter/create-openrouter-video.ts';
import { getOpenrouterVideo } from './openrouter/get-openrouter-video.ts';
import { getOpenrouterVideoContent } from './openrouter/get-openrouter-video-content.ts';
import { listOpenrouterVideoModels } from './openrouter/list-openrouter-video-models.ts';
import { cancelPrediction } from './replicate/cancel-prediction.ts';
import { createModelPrediction } from './replicate/create-model-prediction.ts';
import { createPrediction } from './replicate/create-prediction.ts';
import { getPrediction } from './replicate/get-prediction.ts';
import { listPredictions } from './replicate/list-predictions.ts';

export { readFalTarget as readTarget } from './fal/fal-target.ts';
export { isFromReplicate } from './replicate/replicate-dialect.ts';

export function dialectRoutes(deps: DialectDeps): readonly Route[] {
  return [
    createOpenaiVideo(deps),
    listOpenaiVideos(deps),
    getOpenaiVideo(deps),
    getOpenaiVideoContent(deps),
    deleteOpenaiVideo(deps),
    remixOpenaiVideo(deps),
    createArkImage(deps),
    createArkTask(deps),
    listArkTasks(deps),
    getArkTask(deps),
    deleteArkTask(deps),
    createChatCompletion(deps),
    createOpenrouterChat(deps),
    createOpenrouterImage(deps),
    createOpenrouterVideo(deps),
    // Must come before the next route, which would treat its last segment as an id.
    listOpenrouterVideoModels(deps),
    getOpenrouterVideo(deps),
    getOpenrouterVideoContent(deps),
    createPrediction(deps),
    createModelPrediction(deps),
    listPredictions(deps),
    getPrediction(deps),
    cancelPrediction(deps),
    submitFalRequest(deps),
    getFalStatus(deps),
    getFalResult(deps),
    cancelFalRequest(deps),
    streamFalStatus(deps),
    runFalRequest(deps),
    streamFalRequest(deps),
  ];
}
