import type { UploadQueueAction } from '../uploadQueue.js';

/** Of thousands of small files several are done between two frames. */
const paceMilliseconds = 60;

/** Hands actions on in their order, those that come close together at once, so that the page is drawn once for them all. */
export function paceActions(dispatch: (action: UploadQueueAction) => void) {
	let collected: UploadQueueAction[] = [];
	let timer: ReturnType<typeof setTimeout> | undefined;
	const handOn = () => {
		clearTimeout(timer);
		timer = undefined;
		const actions = collected;
		collected = [];
		for (const action of actions) dispatch(action);
	};
	return (action: UploadQueueAction) => {
		collected.push(action);
		// What begins or ends a run is waited for.
		if (action.type === 'runStarted' || action.type === 'runEnded') handOn();
		else timer ??= setTimeout(handOn, paceMilliseconds);
	};
}
