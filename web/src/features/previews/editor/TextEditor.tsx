import type { Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { type Area, type Entry, isFailure, previewLimits } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { FileVersion } from '../../../api/previews.js';
import { queryKeys } from '../../../api/queryKeys.js';
import { sessionQuery } from '../../../api/session/sessionQuery.js';
import { useSession } from '../../../api/session/useSession.js';
import { findCurrent, writeFile } from '../../../api/textFiles.js';
import { useFrame } from '../../../ui/frame.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { holdPage, leaveWork } from '../../../ui/unsavedWork.js';
import { useLatest } from '../../../ui/useLatest.js';
import type { Encoding } from '../text/encodings.js';
import { type CodeEditorOptions, createCodeEditor, showText } from './codeEditor.js';
import { EditorDialog, type Question } from './EditorDialog.js';
import { EditorToolbar } from './EditorToolbar.js';
import { EditorTrouble } from './EditorTrouble.js';
import { editorMessages as messages } from './messages.js';
import { type Base, baseOf, type Edited, type Saving, saveText } from './saveText.js';
import styles from './TextEditor.module.css';
import { asUtf8, canBeShown, readText, writeText } from './textBytes.js';
import { useVisibleHeight } from './useVisibleHeight.js';

export interface TextEditorProps {
	area: Area;
	/** The file as the listing shows it. */
	entry: Entry;
	url: string;
	edited: Edited;
	detect: (bytes: Uint8Array) => Promise<Encoding>;
	/** It is left. Gets the entry that is to be shown then, if that is another one. */
	onDone: (shown: Entry | undefined) => void;
}

/** Edits a text. What is on screen is never given up without the user's word: not when saving fails, nor when the session ends. */
export function TextEditor({ area, entry, url, edited, detect, onDone }: TextEditorProps) {
	const { notify } = useNotify();
	const queryClient = useQueryClient();
	const frame = useFrame();
	const session = useSession();
	const username = session.status === 'signedIn' ? session.username : undefined;
	const [owner] = useState(username);
	const hint = useId();

	const place = useRef<HTMLDivElement>(null);
	const root = useRef<HTMLDivElement>(null);
	const view = useRef<EditorView>(undefined);
	const [base, setBase] = useState<Base>(() => baseOf(edited));
	const [savedText, setSavedText] = useState<Text>();
	const [text, setText] = useState<Text>();
	const [isSaving, setSaving] = useState(false);
	const [error, setError] = useState<Error>();
	const [question, setQuestion] = useState<Question>();
	const written = useRef<Entry>(undefined);
	useVisibleHeight(root);

	const isChanged = text !== undefined && savedText !== undefined && !text.eq(savedText);
	const isBusy = useRef(false);
	const latest = useLatest({ save: () => void (isChanged && !question && save(base)), ask, username });

	const [options] = useState<CodeEditorOptions>(() => ({
		name: entry.name,
		describedBy: hint,
		onChange: setText,
	}));
	const [firstText] = useState(edited.read.text);
	useLayoutEffect(() => {
		if (!place.current) return;
		const created = createCodeEditor(place.current, firstText, options);
		view.current = created;
		setText(created.state.doc);
		setSavedText(created.state.doc);
		created.focus();
		return () => created.destroy();
	}, [firstText, options]);

	// Wherever the focus is: the browser would save the page instead.
	useLayoutEffect(() => {
		const listen = (event: KeyboardEvent) => {
			const isSave =
				event.key.toLowerCase() === 's' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
			if (!isSave) return;
			event.preventDefault();
			latest.current.save();
		};
		window.addEventListener('keydown', listen);
		return () => window.removeEventListener('keydown', listen);
	}, []);

	const isOwner = owner === username;
	useEffect(() => {
		if (isOwner) view.current?.focus();
	}, [isOwner]);

	const release = useRef<() => void>(undefined);
	useEffect(() => {
		if (!isChanged) return;
		release.current = holdPage((proceed) => latest.current.ask(proceed));
		return release.current;
	}, [isChanged]);

	const focus = () => view.current?.focus();
	const leave = (proceed: () => void) => {
		setQuestion(undefined);
		release.current?.();
		proceed();
	};

	/** Resolves to whether the file has the text now. */
	async function save(from: Base, replacing = from.replaced): Promise<boolean> {
		const doc = view.current?.state.doc;
		// Under another name it would become a file of somebody else.
		if (!doc || isBusy.current || owner !== latest.current.username) return false;
		isBusy.current = true;
		setSaving(true);
		setError(undefined);
		let saving: Saving;
		try {
			saving = await saveText({ ...from, replaced: replacing }, doc.toString(), {
				write: (bytes, replaced) => writeFile(area, entry, bytes, replaced),
				findCurrent: () => findCurrent(url, previewLimits.text),
			});
		} catch (failure) {
			await fail(failure);
			return false;
		} finally {
			isBusy.current = false;
			setSaving(false);
			void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
		}
		if (saving.kind === 'lacks') askForEncoding(from, saving.letter);
		if (saving.kind === 'changed') askWhoWins(from, doc, saving.current);
		if (saving.kind !== 'saved') return false;
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
		setQuestion({
			title: messages.unsaved,
			text: messages.unsavedQuestion(entry.name),
			answers: [
				{ text: messages.discard, intent: 'danger', onClick: () => leave(proceed) },
				{
					text: messages.save,
					intent: 'primary',
					onClick: async () => {
						setQuestion(undefined);
						if (await save(base)) leave(proceed);
					},
				},
			],
		});
	}

	function askForEncoding(from: Base, letter: string): void {
		const { encoding } = from.read;
		setQuestion({
			title: messages.encoding,
			text: (
				<>
					<p>{letter === '' ? messages.lacksSome(encoding) : messages.lacks(letter, encoding)}</p>
					<p className={styles.note}>{messages.utf8Has}</p>
				</>
			),
			answers: [
				{
					text: messages.saveAsUtf8,
					intent: 'primary',
					onClick: () => {
						setQuestion(undefined);
						void save({ ...from, read: asUtf8(from.read) });
					},
				},
			],
		});
	}

	function askWhoWins(from: Base, doc: Text, current: FileVersion | undefined): void {
		setQuestion({
			title: messages.changed,
			text: (current ? messages.changedQuestion : messages.goneQuestion)(entry.name),
			answers: [
				{
					text: messages.discard,
					intent: 'danger',
					onClick: () => {
						setQuestion(undefined);
						if (current) void load(current);
						else leave(() => onDone(undefined));
					},
				},
				{
					text: messages.overwrite,
					onClick: () => {
						setQuestion(undefined);
						void save(from, current ? { kind: 'version', etag: current.etag } : { kind: 'missing' });
					},
				},
				{
					text: messages.saveCopy,
					intent: 'primary',
					onClick: () => {
						setQuestion(undefined);
						void saveCopy(from, doc.toString());
					},
				},
			],
		});
	}

	async function saveCopy(from: Base, copied: string): Promise<void> {
		const result = writeText(from.read, copied);
		if (result.kind === 'lacks') return askForEncoding(from, result.letter);
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
			void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
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

	return (
		<div ref={root} data-editor className={styles.editor}>
			<EditorToolbar
				view={view.current}
				read={base.read}
				isChanged={isChanged}
				isSaving={isSaving}
				onDone={() => leaveWork(() => onDone(written.current))}
				onSave={() => {
					// Once it is saved the button is disabled, and would keep the focus from everything.
					focus();
					void save(base);
				}}
			/>
			<EditorTrouble
				error={error}
				owner={owner}
				username={username}
				isChecked={session.status !== 'unknown'}
				onSignIn={frame.openSignIn}
			/>
			<div ref={place} className={styles.place} />
			<p id={hint} className="visually-hidden">
				{messages.tabHint}
			</p>
			<EditorDialog
				question={question}
				cancel={messages.cancel}
				onCancel={() => setQuestion(undefined)}
				onClosed={focus}
			/>
		</div>
	);
}
