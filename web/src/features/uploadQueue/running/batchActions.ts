import type { UploadQueueAction } from '../uploadQueue.js';

/** How long actions are collected: of thousands of small files several are uploaded between two frames. */
const batchMs = 60;

/** Dispatches actions in their order and in batches, so that the page renders once for each batch. */
export function batchActions(dispatch: (action: UploadQueueAction) => void) {
	let batch: UploadQueueAction[] = [];
	let timer: ReturnType<typeof setTimeout> | undefined;
	const flush = () => {
		clearTimeout(timer);
		timer = undefined;
		const actions = batch;
		batch = [];
		for (const action of actions) dispatch(action);
	};
	return (action: UploadQueueAction) => {
		batch.push(action);
		// The begin and the end of a run are shown without delay.
		if (action.type === 'runStarted' || action.type === 'runEnded') flush();
		else timer ??= setTimeout(flush, batchMs);
	};
}
