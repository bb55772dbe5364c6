import type { Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { type Area, type Entry, isFailure, previewLimits } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';
import type { FileVersion } from '../../../api/previews.js';
import { queryKeys } from '../../../api/queryKeys.js';
import { sessionQuery } from '../../../api/session/sessionQuery.js';
import { findCurrent, writeFile } from '../../../api/textFiles.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { holdPage } from '../../../ui/unsavedWork.js';
import { useLatest } from '../../../ui/useLatest.js';
import type { Encoding } from '../text/encodings.js';
import { type CodeEditorOptions, showText } from './codeEditor.js';
import type { Question } from './EditorDialog.js';
import { changedQuestion, encodingQuestion, unsavedQuestion } from './editorQuestions.js';
import { editorMessages as messages } from './messages.js';
import { editedText, savingEffect } from './replacements.js';
import { type Base, baseOf, type Edited, type EditedText, type Saving, saveText } from './saveText.js';
import { asUtf8, canBeShown, readText, writeText } from './textBytes.js';

export interface EditedFile {
	area: Area;
	/** The file as the listing shows it. */
	entry: Entry;
	url: string;
	edited: Edited;
	detect: (bytes: Uint8Array) => Promise<Encoding>;
	/** Called when the editor is left, with the entry that is to be shown then, if that is another one. */
	onDone: (shown: Entry | undefined) => void;
}

export interface SavingContext {
	view: RefObject<EditorView | undefined>;
	options: CodeEditorOptions;
	text: Text | undefined;
	setText: (text: Text) => void;
	/** Whether who opened the file is signed in: under another name it would become a file of somebody else. */
	isOwner: boolean;
}

/**
 * Saves the text of an editor, and asks wherever that would lose something: a character, what somebody else has written,
 * or the text itself. While it is not saved, the page is held.
 */
export function useTextSaving(
	{ area, entry, url, edited, detect, onDone }: EditedFile,
	{ view, options, text, setText, isOwner }: SavingContext,
) {
	const { notify } = useNotify();
	const queryClient = useQueryClient();
	const [base, setBase] = useState<Base>(() => baseOf(edited));
	const [savedText, setSavedText] = useState<Text>();
	const [isSaving, setSaving] = useState(false);
	const [error, setError] = useState<Error>();
	const [question, setQuestion] = useState<Question>();
	const written = useRef<Entry>(undefined);
	const isBusy = useRef(false);
	const release = useRef<() => void>(undefined);

	const isChanged = text !== undefined && savedText !== undefined && !text.eq(savedText);
	const latest = useLatest({ ask, isOwner });
	useEffect(() => {
		if (!isChanged) return;
		release.current = holdPage((proceed) => latest.current.ask(proceed));
		return release.current;
	}, [isChanged]);

	const refetch = () => void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
	const close = () => setQuestion(undefined);
	const leave = (proceed: () => void) => {
		close();
		release.current?.();
		proceed();
	};

	/** Resolves to whether the file has the text now. */
	async function save(from: Base = base, replacing = from.replaced): Promise<boolean> {
		const editor = view.current;
		if (!editor || isBusy.current || !latest.current.isOwner) return false;
		const { doc } = editor.state;
		const text = editedText(editor.state);
		editor.dispatch({ effects: savingEffect.of('begins') });
		isBusy.current = true;
		setSaving(true);
		setError(undefined);
		let saving: Saving;
		try {
			saving = await saveText({ ...from, replaced: replacing }, text, {
				write: (bytes, replaced) => writeFile(area, entry, bytes, replaced),
				findCurrent: () => findCurrent(url, previewLimits.text),
			});
		} catch (failure) {
			await fail(failure);
			return false;
		} finally {
			isBusy.current = false;
			setSaving(false);
			refetch();
		}
		if (saving.kind === 'lacks') askForEncoding(from, saving.character);
		if (saving.kind === 'changed') askWhoWins(from, text, saving.current);
		if (saving.kind !== 'saved') return false;
		view.current?.dispatch({ effects: savingEffect.of('succeeded') });
		written.current = saving.entry ?? { ...entry, size: saving.base.bytes.length, mtime: Date.now() };
		setBase(saving.base);
		setSavedText(doc);
		notify({ intent: 'success', message: messages.saved(entry.name) });
		return true;
	}

	async function fail(failure: unknown): Promise<void> {
		if (isFailure(failure, 'notSignedIn')) {
			// What is shown when nobody is signed in says more.
			await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
			if (!queryClient.getQueryData(sessionQuery.queryKey)?.isLoggedIn) return;
		}
		setError(failure instanceof Error ? failure : new Error(String(failure)));
		if (!isFailure(failure)) throw failure;
	}

	function ask(proceed: () => void): void {
		setQuestion(
			unsavedQuestion(entry.name, {
				discard: () => leave(proceed),
				save: async () => {
					close();
					if (await save()) leave(proceed);
				},
			}),
		);
	}

	function askForEncoding(from: Base, character: string): void {
		setQuestion(
			encodingQuestion(from.read.encoding, character, {
				saveAsUtf8: () => {
					close();
					void save({ ...from, read: asUtf8(from.read) });
				},
			}),
		);
	}

	function askWhoWins(from: Base, text: EditedText, current: FileVersion | undefined): void {
		setQuestion(
			changedQuestion(entry.name, current === undefined, {
				discard: () => {
					close();
					if (current) void load(current);
					else leave(() => onDone(undefined));
				},
				overwrite: () => {
					close();
					void save(from, current ? { kind: 'version', etag: current.etag } : { kind: 'missing' });
				},
				saveCopy: () => {
					close();
					void saveCopy(from, text);
				},
			}),
		);
	}

	async function saveCopy(from: Base, { text: copied, replacements }: EditedText): Promise<void> {
		const result = writeText(from.read, copied, replacements);
		if (result.kind === 'lacks') return askForEncoding(from, result.character);
		setSaving(true);
		setError(undefined);
		try {
			const copy = await writeFile(area, entry, result.bytes, { kind: 'nothing' });
			notify({ intent: 'success', message: messages.savedAs(copy.name) });
			leave(() => onDone({ ...entry, ...copy }));
		} catch (failure) {
			await fail(failure);
		} finally {
			setSaving(false);
			refetch();
		}
	}

	/** Shows what the file contains now instead of the text. */
	async function load(current: FileVersion): Promise<void> {
		const read = readText(current.bytes, base.read.encoding) ?? readText(current.bytes, await detect(current.bytes));
		if (!read || !canBeShown(read) || !view.current) return leave(() => onDone(entry));
		setError(undefined);
		setBase(baseOf({ read, version: current }));
		written.current = { ...entry, size: current.bytes.length, mtime: Date.now() };
		showText(view.current, read.text, options);
		setText(view.current.state.doc);
		setSavedText(view.current.state.doc);
	}

	return {
		read: base.read,
		isChanged,
		isSaving,
		error,
		question,
		/** The text as the file has it. */
		setSavedText,
		save: () => void save(),
		/** Takes the question back. */
		cancel: close,
		/** Leaves the editor, with what it has written. */
		done: () => onDone(written.current),
	};
}
