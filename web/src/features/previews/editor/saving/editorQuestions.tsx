import { shownName } from '@stowage/rules';
import type { Question } from '../EditorDialog.js';
import { editorMessages as messages } from '../messages.js';
import styles from '../TextEditor.module.css';

/** Asked before a changed text is left. */
export function unsavedQuestion(
	name: string,
	answers: { discard: () => Promise<void>; save: () => Promise<void> },
): Question {
	return {
		title: messages.unsaved,
		text: messages.unsavedQuestion(shownName(name)),
		answers: [
			{ text: messages.discard, intent: 'danger', onClick: answers.discard },
			{ text: messages.save, intent: 'primary', onClick: answers.save },
		],
	};
}

/** The encoding of the file lacks a character, which is empty if it is not known. */
export function encodingQuestion(
	encoding: string,
	character: string,
	answers: { saveAsUtf8: () => Promise<void> },
): Question {
	return {
		title: messages.encoding,
		text: (
			<>
				<p>{character === '' ? messages.lacksSome(encoding) : messages.lacks(character, encoding)}</p>
				<p className={styles.note}>{messages.utf8Has}</p>
			</>
		),
		answers: [{ text: messages.saveAsUtf8, intent: 'primary', onClick: answers.saveAsUtf8 }],
	};
}

/** Somebody else has changed or removed the file meanwhile. */
export function changedQuestion(
	name: string,
	isGone: boolean,
	answers: { discard: () => Promise<void>; overwrite: () => Promise<void>; saveCopy: () => Promise<void> },
): Question {
	return {
		title: messages.changed,
		text: (isGone ? messages.goneQuestion : messages.changedQuestion)(shownName(name)),
		answers: [
			{ text: messages.discard, intent: 'danger', onClick: answers.discard },
			{ text: messages.overwrite, onClick: answers.overwrite },
			{ text: messages.saveCopy, intent: 'primary', onClick: answers.saveCopy },
		],
	};
}
