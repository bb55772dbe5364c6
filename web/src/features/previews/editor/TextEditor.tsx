import type { Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useSession } from '../../../api/session/useSession.js';
import { useFrame } from '../../../ui/frame.js';
import { leaveWork } from '../../../ui/unsavedWork.js';
import { useLatest } from '../../../ui/useLatest.js';
import { type CodeEditorOptions, createCodeEditor } from './codeEditor.js';
import { EditorDialog } from './EditorDialog.js';
import { EditorToolbar } from './EditorToolbar.js';
import { EditorTrouble } from './EditorTrouble.js';
import { editorMessages as messages } from './messages.js';
import { type EditedFile, useTextSaving } from './saving/useTextSaving.js';
import styles from './TextEditor.module.css';
import { useVisibleHeight } from './useVisibleHeight.js';

/** Edits a text. What is on screen is never given up without the user's word: not when saving fails, nor when the session ends. */
export function TextEditor(file: EditedFile) {
	const { entry, edited } = file;
	const frame = useFrame();
	const session = useSession();
	const username = session.status === 'signedIn' ? session.username : undefined;
	const [owner] = useState(username);
	const isOwner = owner === username;
	const hint = useId();

	const place = useRef<HTMLDivElement>(null);
	const root = useRef<HTMLDivElement>(null);
	const view = useRef<EditorView>(undefined);
	const [text, setText] = useState<Text>();
	const [options] = useState<CodeEditorOptions>(() => ({ name: entry.name, describedBy: hint, onChange: setText }));
	const saving = useTextSaving(file, { view, options, text, setText, owner });
	const { isChanged, question, setSavedText, save } = saving;
	useVisibleHeight(root);

	const [firstText] = useState(edited.read.text);
	useLayoutEffect(() => {
		if (!place.current) return;
		const created = createCodeEditor(place.current, firstText, options);
		view.current = created;
		setText(created.state.doc);
		setSavedText(created.state.doc);
		created.focus();
		return () => created.destroy();
	}, [firstText, options, setSavedText]);

	const latest = useLatest({ save: () => isChanged && !question && save() });
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

	const focus = () => view.current?.focus();
	useEffect(() => {
		if (isOwner) view.current?.focus();
	}, [isOwner]);

	return (
		<div ref={root} data-editor className={styles.editor}>
			<EditorToolbar
				view={view.current}
				read={saving.read}
				isChanged={isChanged}
				isSaving={saving.isSaving}
				onDone={() => leaveWork(saving.done)}
				onSave={() => {
					// Once it is saved the button is disabled, and would keep the focus from everything.
					focus();
					save();
				}}
			/>
			<EditorTrouble
				error={saving.error}
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
				onCancel={saving.cancel}
				onAnswered={saving.answered}
				onClosed={focus}
			/>
		</div>
	);
}
