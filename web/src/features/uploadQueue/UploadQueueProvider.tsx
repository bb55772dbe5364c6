import { type ReactNode, useEffect, useMemo, useReducer } from 'react';
import { useSession } from '../../api/session/useSession.js';
import { beginTransfer } from '../../ui/transfers.js';
import { useLatest } from '../../ui/useLatest.js';
import { useConflicts } from './conflicts/useConflicts.js';
import { areas, DestinationContext, nameOf, type UploadDestination } from './destination.js';
import { mayUploadAs } from './queueItem.js';
import { summarize } from './queueSummary.js';
import { useRunner } from './running/useRunner.js';
import { emptyQueue, type UserAction, uploadQueueReducer } from './uploadQueue.js';
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
	const session = useSession({ isAsked: destination.kind === 'areas' });
	const username = nameOf(destination, session);
	const user = useLatest(username);

	const queue = useMemo<UploadQueue>(() => {
		const change = (action: UserAction) => dispatch({ ...action, username: user.current });
		return {
			...runner,
			rename: (id, name) => change({ type: 'renamed', id, name }),
			restoreName: (id) => change({ type: 'nameRestored', id }),
			setVisibility: (id, isPublic) => change({ type: 'visibilityChanged', id, isPublic }),
			setAllVisibility: (isPublic) => change({ type: 'allVisibilityChanged', isPublic }),
			setIfExists: (id, ifExists) => change({ type: 'ifExistsChanged', id, ifExists }),
			setAllIfExists: (ifExists) => change({ type: 'allIfExistsChanged', ifExists }),
			openDialog: () => dispatch({ type: 'dialogOpened' }),
			closeDialog: () => dispatch({ type: 'dialogClosed' }),
		};
	}, [runner]);

	const summary = useMemo(() => summarize(state.items, username), [state.items, username]);
	const isRunning = state.run !== undefined;
	const own = useMemo(() => state.items.filter((item) => mayUploadAs(username, item)), [state.items, username]);
	const conflicts = useConflicts(own, isRunning, destination);
	const view = useMemo<UploadQueueView>(
		() => ({ ...state, summary, conflicts, isRunning, isDialogOpen: state.isDialogOpen && state.items.length > 0 }),
		[state, summary, conflicts, isRunning],
	);

	// What was chosen before, or while a user was signed in on another page, would become public as the user's.
	useEffect(() => {
		if (username !== undefined) dispatch({ type: 'userFound', username });
	}, [username]);

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
