import { createContext, type ReactNode, useContext, useState } from 'react';
import { emptyUndoStack, reduceUndo, type UndoAction, type UndoStack } from './undoStack.js';

/** Holds what can be undone until the page is left. */
export interface UndoStore {
	stack: () => UndoStack;
	dispatch: (action: UndoAction) => void;
	/** A new id for a step. */
	nextId: () => number;
}

const UndoContext = createContext<UndoStore | undefined>(undefined);

/** Provides the store of `useUndo` to all pages. It is no state: nothing is rendered from it. */
export function UndoProvider({ children }: { children: ReactNode }) {
	const [store] = useState(createUndoStore);
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
	};
}

export function useUndoStore(): UndoStore {
	const store = useContext(UndoContext);
	if (!store) throw new Error('useUndo is used outside of UndoProvider.');
	return store;
}
