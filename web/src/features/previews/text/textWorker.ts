/// <reference lib="webworker" />
import { runTextTask, type TextTask } from './runTextTask.js';

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

scope.onmessage = ({ data }: MessageEvent<TextTask>) => scope.postMessage(runTextTask(data));
