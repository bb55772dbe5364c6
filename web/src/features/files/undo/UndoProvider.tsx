import { matchQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { queryKeys } from '../../../api/queryKeys.js';
import type { TrashListing } from '../../../api/trash.js';
import { RestoreOffers } from './RestoreOffers.js';
import { emptyUndoStack, reduceUndo, type UndoAction, type UndoStack } from './undoStack.js';

/** Holds what can be undone until the page is left. */
export interface UndoStore {
	stack: () => UndoStack;
	dispatch: (action: UndoAction) => void;
	/** A new id for a step. */
	nextId: () => number;
	/** The notices on screen that offer to restore something. They outlive the page that has deleted it. */
	offers: RestoreOffers;
}

const UndoContext = createContext<UndoStore | undefined>(undefined);

/** Provides the store of `useUndo` to all pages. It is no state: nothing is rendered from it. */
export function UndoProvider({ children }: { children: ReactNode }) {
	const [store] = useState(createUndoStore);
	const queryClient = useQueryClient();
	useEffect(() => {
		const queryKey = queryKeys.trash.all;
		return queryClient.getQueryCache().subscribe((event) => {
			if (event.type !== 'updated' || !matchQuery({ queryKey }, event.query)) return;
			const { type } = event.action;
			if (type === 'fetch') store.offers.onFetching();
			else if (type === 'success') store.offers.onListed(event.query.state.data as TrashListing);
		});
	}, [store, queryClient]);
	return <UndoContext value={store}>{children}</UndoContext>;
}

function createUndoStore(): UndoStore {
	let stack = emptyUndoStack;
	let last = 0;
	return {
		stack: () => stack,
		dispatch(action) {
			stack = reduceUndo(stack, action);
		},
		nextId: () => ++last,
		offers: new RestoreOffers(),
	};
}

export function useUndoStore(): UndoStore {
	const store = useContext(UndoContext);
	if (!store) throw new Error('useUndo is used outside of UndoProvider.');
	return store;
}
