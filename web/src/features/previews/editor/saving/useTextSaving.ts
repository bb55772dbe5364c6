import type { Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { type Area, type Entry, isFailure, previewLimits } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { serverNow } from '../../../../api/client/serverClock.js';
import type { FileVersion } from '../../../../api/previews.js';
import { queryKeys } from '../../../../api/queryKeys.js';
import { refreshSession } from '../../../../api/session/refreshSession.js';
import { sessionQuery } from '../../../../api/session/sessionQuery.js';
import { findCurrent, type Replaced, writeFile } from '../../../../api/textFiles.js';
import { useNotify } from '../../../../ui/notifications/useNotify.js';
import { holdPage } from '../../../../ui/unsavedWork.js';
import { useLatest } from '../../../../ui/useLatest.js';
import type { Encoding } from '../../text/encodings.js';
import { asUtf8, canBeShown, type ReadText, readText, writeText } from '../bytes/textBytes.js';
import { type CodeEditorOptions, showText } from '../codeEditor.js';
import type { Question } from '../EditorDialog.js';
import { editorMessages as messages } from '../messages.js';
import { changedQuestion, encodingQuestion, unsavedQuestion } from './editorQuestions.js';
import { editedText, savingEffect } from './replacements.js';
import { type Base, baseOf, type Edited, saveText } from './saveText.js';

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
	/** Who opened the file: under another name it would become a file of somebody else. */
	owner: string | undefined;
}

/**
 * Saves the text of an editor, and asks wherever that would lose something: a character, what somebody else has written,
 * or the text itself. While it is not saved, the page is held.
 */
export function useTextSaving(
	{ area, entry, url, edited, detect, onDone }: EditedFile,
	{ view, options, text, setText, owner }: SavingContext,
) {
	const { notify } = useNotify();
	const queryClient = useQueryClient();
	const [base, showBase] = useState<Base>(() => baseOf(edited));
	const [savedText, setSavedText] = useState<Text>();
	const [isSaving, setSaving] = useState(false);
	const [error, setError] = useState<Error>();
	const [question, setQuestion] = useState<Question>();
	/** As they are now: what is under way has begun with an older render. */
	const now = useRef<{ base: Base; asked?: Question | undefined; writing?: Promise<unknown> | undefined }>({ base });
	const written = useRef<Entry>(undefined);
	const release = useRef<() => void>(undefined);

	const isChanged = text !== undefined && savedText !== undefined && !text.eq(savedText);
	const latest = useLatest({ ask });
	useEffect(() => {
		if (!isChanged) return;
		release.current = holdPage((proceed) => latest.current.ask(proceed));
		return release.current;
	}, [isChanged]);

	const refetch = () => void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
	const setBase = (next: Base) => {
		now.current.base = next;
		showBase(next);
	};
	const put = (asked: Question | undefined) => {
		now.current.asked = asked;
		setQuestion(asked);
	};
	const close = () => put(undefined);
	/** What an answer goes on with once it has waited: nothing, if it was cancelled or something else is asked by then. */
	const isAsked = (asked: Question) => now.current.asked === asked;
	const isChangedSince = (doc: Text) => view.current !== undefined && !view.current.state.doc.eq(doc);
	const leave = (proceed: () => void) => {
		close();
		release.current?.();
		proceed();
	};

	/**
	 * Writes one thing at a time, and only while who opened the file is signed in, also in another tab. Resolves to
	 * undefined if it was not written, which is said where that is not known yet.
	 */
	function write<T>(run: (editor: EditorView) => Promise<T>): Promise<T | undefined> {
		const editor = view.current;
		if (!editor || now.current.writing) return Promise.resolve(undefined);
		const writing = whileBusy(async () => {
			await refreshSession(queryClient, 0, new AbortController().signal);
			const isOwner = (queryClient.getQueryData(sessionQuery.queryKey)?.username ?? undefined) === owner;
			return isOwner ? run(editor) : undefined;
		});
		now.current.writing = writing;
		return writing;
	}

	async function whileBusy<T>(run: () => Promise<T>): Promise<T | undefined> {
		setSaving(true);
		setError(undefined);
		try {
			return await run();
		} catch (failure) {
			await fail(failure);
			return undefined;
		} finally {
			now.current.writing = undefined;
			setSaving(false);
			refetch();
		}
	}

	/** Resolves to the text that the file has now. */
	async function save(from?: Base, replacing?: Replaced): Promise<Text | undefined> {
		return write(async (editor) => {
			const before = from ?? now.current.base;
			const { doc } = editor.state;
			const text = editedText(editor.state);
			editor.dispatch({ effects: savingEffect.of('begins') });
			const saving = await saveText({ ...before, replaced: replacing ?? before.replaced }, text, {
				write: (bytes, replaced) => writeFile(area, entry, bytes, replaced),
				findCurrent: () => findCurrent(url, previewLimits.text),
			});
			if (saving.kind === 'lacks') askForEncoding(before, saving.character);
			if (saving.kind === 'changed') askWhoWins(before, saving.current);
			if (saving.kind !== 'saved') return undefined;
			view.current?.dispatch({ effects: savingEffect.of('succeeded') });
			written.current = saving.entry ?? { ...entry, size: saving.base.bytes.length, mtime: serverNow() };
			setBase(saving.base);
			setSavedText(doc);
			notify({ intent: 'success', message: messages.saved(entry.name) });
			return doc;
		});
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
		const asked = unsavedQuestion(entry.name, {
			discard: async () => leave(proceed),
			async save() {
				// What is being saved may be an older text.
				await now.current.writing?.catch(() => undefined);
				const saved = isAsked(asked) ? await save() : undefined;
				if (!saved || !isAsked(asked)) return;
				if (isChangedSince(saved)) ask(proceed);
				else leave(proceed);
			},
		});
		put(asked);
	}

	function askForEncoding(from: Base, character: string): void {
		put(
			encodingQuestion(from.read.encoding, character, {
				saveAsUtf8: async () => void (await save({ ...from, read: asUtf8(from.read) })),
			}),
		);
	}

	function askWhoWins(from: Base, current: FileVersion | undefined): void {
		const asked = changedQuestion(entry.name, current === undefined, {
			async discard() {
				if (!current) return leave(() => onDone(undefined));
				const read = await readAgain(current);
				if (isAsked(asked)) show(current, read);
			},
			overwrite: async () =>
				void (await save(from, current ? { kind: 'version', etag: current.etag } : { kind: 'missing' })),
			async saveCopy() {
				const saved = await saveCopy(from);
				if (!saved || !isAsked(asked)) return;
				if (isChangedSince(saved.doc)) askWhoWins(from, current);
				else leave(() => onDone({ ...entry, ...saved.copy }));
			},
		});
		put(asked);
	}

	/** Resolves to the text that it has, as it is in the editor when it begins. */
	async function saveCopy(from: Base): Promise<{ copy: Entry; doc: Text } | undefined> {
		return write(async ({ state }) => {
			const { text, replacements } = editedText(state);
			const result = writeText(from.read, text, replacements);
			if (result.kind === 'lacks') {
				askForEncoding(from, result.character);
				return undefined;
			}
			const copy = await writeFile(area, entry, result.bytes, { kind: 'nothing' });
			notify({ intent: 'success', message: messages.savedAs(copy.name) });
			return { copy, doc: state.doc };
		});
	}

	async function readAgain({ bytes }: FileVersion): Promise<ReadText | undefined> {
		return readText(bytes, now.current.base.read.encoding) ?? readText(bytes, await detect(bytes));
	}

	/** Shows what the file contains now instead of the text. */
	function show(current: FileVersion, read: ReadText | undefined): void {
		if (!read || !canBeShown(read) || !view.current) {
			leave(() => onDone(entry));
			return;
		}
		setError(undefined);
		setBase(baseOf({ read, version: current }));
		written.current = { ...entry, size: current.bytes.length, mtime: serverNow() };
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
		/** Its answer is done, and may have asked something else. */
		answered: (asked: Question) => isAsked(asked) && close(),
		/** Leaves the editor, with what it has written. */
		done: () => onDone(written.current),
	};
}
