import type { Area, StoragePath } from '@stowage/rules';

export interface DeletedItem {
	name: string;
	trashId: string;
}

export interface MovedItem {
	/** What it is called now. */
	name: string;
	/** The area of both paths. */
	area: Area;
	/** Where it is now. */
	path: StoragePath;
	/** Where it was. */
	before: StoragePath;
}

export interface RenamedItem {
	name: string;
	area: Area;
	path: StoragePath;
	/** What it was called. */
	before: string;
}

export interface CopiedItem {
	name: string;
	area: Area;
	path: StoragePath;
}

/** A file that a copy has replaced. */
export interface ReplacedItem {
	name: string;
	area: Area;
	path: StoragePath;
	/** The size and modified time of what was replaced: they identify its version among those of the file. */
	size: number;
	mtime: number;
}

/** A file that got a former content again. */
export interface RestoredItem {
	name: string;
	area: Area;
	path: StoragePath;
	/** The version that has what it had before. */
	version: string;
}

/** What takes an operation back. */
export type Reversal =
	/** What was deleted is restored from the trash. */
	| { kind: 'restore'; items: readonly DeletedItem[] }
	/** What was moved is moved back, to its former name. */
	| { kind: 'moveBack'; items: readonly MovedItem[] }
	| { kind: 'renameBack'; items: readonly RenamedItem[] }
	/** The copies go to the trash. */
	| { kind: 'discard'; items: readonly CopiedItem[] }
	/** The files have what was replaced again, and the copies become versions. */
	| { kind: 'restoreVersions'; items: readonly ReplacedItem[] }
	/** The content that was the file's before another version was restored is restored itself. */
	| { kind: 'restoreBack'; items: readonly RestoredItem[] };

/** An operation that can't be undone stays in its place, or an undo would take back an earlier one instead. */
export type Undo =
	| Reversal
	/** Reversals of several kinds; the sentences say why the rest of the items can't be taken back. */
	| { kind: 'several'; parts: readonly Reversal[]; reasons: readonly string[] }
	| { kind: 'impossible'; reason: string };

export interface UndoStep {
	id: number;
	undo: Undo;
}

/** The operations of a user that were not undone yet, the last one at the end. */
export interface UndoStack {
	username: string | undefined;
	steps: readonly UndoStep[];
}

export const emptyUndoStack: UndoStack = { username: undefined, steps: [] };

/** The oldest operations beyond this are forgotten. */
const maxSteps = 100;

export type UndoAction =
	/** The step was done by this user, or what is left of it could not be undone for now. */
	| { type: 'added'; username: string; step: UndoStep }
	/** The step is being undone. */
	| { type: 'taken'; id: number };

/** Paths mean other files for another user, whose operations begin a stack of their own. */
export function reduceUndo(stack: UndoStack, action: UndoAction): UndoStack {
	switch (action.type) {
		case 'added': {
			const { username, step } = action;
			const before = stepsOf(stack, username);
			return { username, steps: [...before, step].slice(-maxSteps) };
		}
		case 'taken':
			return { ...stack, steps: stack.steps.filter(({ id }) => id !== action.id) };
	}
}

/** The step that is undone next, or the one with this id; undefined if there is none, or if it was undone already. */
export function stepToUndo(stack: UndoStack, username: string, id?: number): UndoStep | undefined {
	const steps = stepsOf(stack, username);
	return id === undefined ? steps.at(-1) : steps.find((step) => step.id === id);
}

function stepsOf(stack: UndoStack, username: string): readonly UndoStep[] {
	return stack.username === username ? stack.steps : [];
}
