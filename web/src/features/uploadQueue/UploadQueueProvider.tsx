import { type ReactNode, useEffect, useMemo, useReducer } from 'react';
import { beginTransfer } from '../../ui/transfers.js';
import { useConflicts } from './conflicts/useConflicts.js';
import { areas, DestinationContext, type UploadDestination } from './destination.js';
import { summarize } from './queueSummary.js';
import { useRunner } from './running/useRunner.js';
import { emptyQueue, uploadQueueReducer } from './uploadQueue.js';
import {
	type UploadQueue,
	UploadQueueContext,
	type UploadQueueView,
	UploadQueueViewContext,
} from './useUploadQueue.js';

export interface UploadQueueProviderProps {
	/** Stays the same object. @default the areas of the server */
	destination?: UploadDestination;
	children: ReactNode;
}

/** One queue for all that is in it, so that uploads continue on other pages. */
export function UploadQueueProvider({ destination = areas, children }: UploadQueueProviderProps) {
	const [state, dispatch] = useReducer(uploadQueueReducer, emptyQueue);
	const runner = useRunner(state, dispatch, destination);

	const queue = useMemo<UploadQueue>(
		() => ({
			...runner,
			rename: (id, name) => dispatch({ type: 'renamed', id, name }),
			restoreName: (id) => dispatch({ type: 'nameRestored', id }),
			setVisibility: (id, isPublic) => dispatch({ type: 'visibilityChanged', id, isPublic }),
			setAllVisibility: (isPublic) => dispatch({ type: 'allVisibilityChanged', isPublic }),
			setIfExists: (id, ifExists) => dispatch({ type: 'ifExistsChanged', id, ifExists }),
			setAllIfExists: (ifExists) => dispatch({ type: 'allIfExistsChanged', ifExists }),
			openDialog: () => dispatch({ type: 'dialogOpened' }),
			closeDialog: () => dispatch({ type: 'dialogClosed' }),
		}),
		[runner],
	);

	const summary = useMemo(() => summarize(state.items), [state.items]);
	const isRunning = state.run !== undefined;
	const conflicts = useConflicts(state.items, isRunning, destination);
	const view = useMemo<UploadQueueView>(
		() => ({ ...state, summary, conflicts, isRunning, isDialogOpen: state.isDialogOpen && state.items.length > 0 }),
		[state, summary, conflicts, isRunning],
	);

	useEffect(() => {
		if (isRunning) return beginTransfer();
	}, [isRunning]);

	return (
		<DestinationContext value={destination}>
			<UploadQueueContext value={queue}>
				<UploadQueueViewContext value={view}>{children}</UploadQueueViewContext>
			</UploadQueueContext>
		</DestinationContext>
	);
}
