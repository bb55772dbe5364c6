import { ChangeSet, type EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import type { Replacement } from '../bytes/textBytes.js';
import type { EditedText } from './saveText.js';

interface Tracked {
	/** Undefined once there are too many to be kept for each character that is typed. */
	sinceSaved: ChangeSet | undefined;
	/** The changes since the last attempt to save, which may still be under way. */
	sinceAttempt: ChangeSet | undefined;
}

const maxReplacements = 50_000;

/** Saving what the editor has now begins, or has succeeded. */
export const savingEffect = StateEffect.define<'begins' | 'succeeded'>();

const tracked = StateField.define<Tracked>({
	create: ({ doc }) => unchanged(doc.length),
	update(before, { changes, docChanged, effects, newDoc }) {
		let after = before;
		if (docChanged) {
			const sinceSaved = composed(before.sinceSaved, changes);
			const isSame = before.sinceAttempt === before.sinceSaved;
			after = { sinceSaved, sinceAttempt: isSame ? sinceSaved : composed(before.sinceAttempt, changes) };
		}
		for (const effect of effects) {
			if (!effect.is(savingEffect)) continue;
			if (effect.value === 'begins') after = { ...after, sinceAttempt: ChangeSet.empty(newDoc.length) };
			else after = { ...after, sinceSaved: after.sinceAttempt };
		}
		return after;
	},
});

/** Keeps what was replaced in the text, so that of equal lines it is known which ones are left. */
export const trackReplacements: Extension = tracked;

export function editedText(state: EditorState): EditedText {
	const changes = state.field(tracked).sinceSaved;
	if (!changes) return { text: state.doc.toString(), replacements: undefined };
	const replacements: Replacement[] = [];
	changes.iterChangedRanges((fromA, toA, fromB, toB) => replacements.push({ fromA, toA, fromB, toB }));
	return { text: state.doc.toString(), replacements };
}

function unchanged(length: number): Tracked {
	const none = ChangeSet.empty(length);
	return { sinceSaved: none, sinceAttempt: none };
}

function composed(before: ChangeSet | undefined, changes: ChangeSet): ChangeSet | undefined {
	const after = before?.compose(changes);
	if (!after) return undefined;
	let count = 0;
	after.iterChangedRanges(() => count++);
	return count > maxReplacements ? undefined : after;
}
