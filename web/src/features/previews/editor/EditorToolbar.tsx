import { Button } from '@blueprintjs/core';
import { RedoIcon, SearchIcon, UndoIcon } from '@blueprintjs/icons';
import { redo, redoDepth, undo, undoDepth } from '@codemirror/commands';
import { openSearchPanel } from '@codemirror/search';
import type { EditorView } from '@codemirror/view';
import viewerStyles from '../common/viewer/viewers.module.css';
import type { ReadText } from './bytes/textBytes.js';
import { editorMessages as messages } from './messages.js';
import styles from './TextEditor.module.css';

export interface EditorToolbarProps {
	/** Undefined until it is on screen. */
	view: EditorView | undefined;
	read: ReadText;
	isChanged: boolean;
	isSaving: boolean;
	onDone: () => void;
	onSave: () => void;
}

/** The toolbar of the editor, which is rendered again with each change of the text. */
export function EditorToolbar({ view, read, isChanged, isSaving, onDone, onSave }: EditorToolbarProps) {
	const step = (command: typeof undo) => () => {
		if (!view) return;
		command(view);
		view.focus();
	};
	return (
		<div className={`${viewerStyles.bar} ${viewerStyles.topBar}`} role="toolbar" aria-label={messages.controls}>
			<span className={styles.form}>{`${read.encoding}, ${endsOf(read.ends)}`}</span>
			<span className={viewerStyles.spacer} />
			<Button
				variant="minimal"
				icon={<UndoIcon />}
				aria-label={messages.undo}
				title={messages.undo}
				aria-disabled={!view || undoDepth(view.state) === 0}
				onClick={step(undo)}
			/>
			<Button
				variant="minimal"
				icon={<RedoIcon />}
				aria-label={messages.redo}
				title={messages.redo}
				aria-disabled={!view || redoDepth(view.state) === 0}
				onClick={step(redo)}
			/>
			<Button
				variant="minimal"
				icon={<SearchIcon />}
				aria-label={messages.find}
				title={messages.find}
				onClick={() => view && openSearchPanel(view)}
			/>
			<Button variant="minimal" text={messages.done} onClick={onDone} />
			<Button intent="primary" text={messages.save} disabled={!isChanged} loading={isSaving} onClick={onSave} />
		</div>
	);
}

const endNames: Readonly<Record<string, string>> = { '\n': 'LF', '\r\n': 'CRLF', '\r': 'CR' };

/** What its lines end in, as editors name it. */
function endsOf(ends: readonly string[]): string {
	const kinds = new Set(ends);
	kinds.delete('');
	const [only = '\n'] = kinds;
	return kinds.size > 1 ? messages.mixedEnds : (endNames[only] ?? '');
}
