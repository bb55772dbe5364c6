import { Button, Dialog } from '@blueprintjs/core';
import { CrossIcon, DragHandleVerticalIcon } from '@blueprintjs/icons';
import { type Area, type Entry, shownName, type Viewer } from '@stowage/rules';
import { type RefObject, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { dialogMilliseconds, useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';
import { isComposing } from '../../../ui/keyboard/composing.js';
import { isEditable } from '../../../ui/keyboard/isEditable.js';
import { leaveWork } from '../../../ui/unsavedWork.js';
import { useLatest } from '../../../ui/useLatest.js';
import { previewFile } from '../common/bytes/previewFile.js';
import { DownloadLink } from '../common/viewer/DownloadLink.js';
import { useKeys } from '../common/viewer/useKeys.js';
import { previewMessages as messages } from '../messages.js';
import { isListed, neighboursOf } from './neighbours.js';
import { Preview } from './Preview.js';
import styles from './PreviewPanel.module.css';
import { Steps } from './Steps.js';
import { useDetectedKind } from './useDetectedKind.js';
import { useMove } from './useMove.js';

export interface PreviewPanelProps {
	viewer: Viewer;
	area: Area;
	/** The entry on show; undefined closes the panel. */
	entry: Entry | undefined;
	/** The entries of the folder, in the order on screen. */
	entries: readonly Entry[];
	/** Shows another file of the folder. */
	onShow: (entry: Entry) => void;
	onClose: () => void;
	/** Called once it has faded out. */
	onClosed: () => void;
}

/** One file in a panel above the page, with the viewer of its kind. */
export function PreviewPanel({ entry, ...props }: PreviewPanelProps) {
	const shown = useLast(entry);
	const openings = useOpenings(entry !== undefined);
	return shown && <Panel key={openings} {...props} entry={shown} isOpen={entry !== undefined} />;
}

type PanelProps = PreviewPanelProps & { entry: Entry; isOpen: boolean };

function Panel({ viewer, area, entry, entries, isOpen, onShow: show, onClose: close, onClosed }: PanelProps) {
	const onShow = (other: Entry) => leaveWork(() => show(other));
	const onClose = () => leaveWork(close);
	const title = useId();
	const header = useRef<HTMLDivElement>(null);
	const body = useRef<HTMLDivElement>(null);
	const move = useMove(header);
	const source = useFileSource();
	const file = useMemo(() => previewFile(source, entry), [source, entry]);
	// A closed panel has its last file, which in another area is another one.
	const detected = useDetectedKind(file, isOpen);
	const { kind } = detected;
	// The dialog is announced by the name of its first file.
	const [announced, setAnnounced] = useState({ path: entry.path, name: '' });
	if (announced.path !== entry.path) setAnnounced({ path: entry.path, name: shownName(entry.name) });
	const isThere = useMemo(() => isListed(entries, entry), [entries, entry]);
	const listed = useLast(isThere ? entries : undefined);
	const { previous, next } = useMemo(() => neighboursOf(entries, entry, kind, listed), [entries, entry, kind, listed]);
	const role = useMemo(() => entries.find(({ path }) => path === entry.path)?.role, [entries, entry]);
	useEscape(isOpen, onClose);
	useSelectAll(isOpen, body);
	useKeys(({ key }) => {
		const other = key === 'ArrowLeft' ? previous : key === 'ArrowRight' ? next : undefined;
		// A closed panel stays mounted, and the keys are the page's then.
		if (!isOpen || kind !== 'image' || !other) return false;
		onShow(other);
		return true;
	}, 'panel');

	return (
		<Dialog
			isOpen={isOpen}
			className={`${styles.panel} ${styles[kind] ?? ''}`}
			style={move.style}
			aria-labelledby={title}
			transitionDuration={dialogMilliseconds}
			// A video in full screen leaves that first.
			canEscapeKeyClose={false}
			onClose={onClose}
			onClosed={onClosed}
			// Else Blueprint focuses a guard outside of the dialog, whose key events don't reach it.
			onOpening={() => body.current?.focus({ preventScroll: true })}
		>
			<div ref={header} className={styles.header} {...move.header}>
				<button type="button" data-handle className={styles.handle} aria-label={messages.move} {...move.handle}>
					<DragHandleVerticalIcon aria-hidden />
				</button>
				<h2 id={title} className={styles.title} title={shownName(entry.name)}>
					{shownName(entry.name)}
				</h2>
				<DownloadLink file={file} isMinimal />
				<Button variant="minimal" icon={<CrossIcon />} aria-label={messages.close} onClick={onClose} />
			</div>
			<div className="visually-hidden" role="status">
				{announced.name}
			</div>
			<div ref={body} tabIndex={-1} className={styles.body}>
				<Preview
					key={file.id}
					viewer={viewer}
					area={area}
					file={file}
					detected={detected}
					// What a member may do can change while it is on screen.
					entry={role === undefined || role === entry.role ? entry : { ...entry, role }}
					entries={entries}
					previous={previous}
					next={next}
					onShow={show}
				/>
				<Steps previous={previous} next={next} onShow={onShow} />
			</div>
		</Dialog>
	);
}

/** Ctrl+A selects the shown file, not the page behind the panel. A file in a frame selects itself. */
function useSelectAll(isOpen: boolean, body: RefObject<HTMLElement | null>): void {
	useLayoutEffect(() => {
		if (!isOpen) return;
		const listen = (event: KeyboardEvent) => {
			const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
			if (key.toLowerCase() !== 'a' || !(ctrlKey || metaKey) || altKey || shiftKey) return;
			if (event.defaultPrevented || isComposing(event) || isEditable(event.target)) return;
			event.preventDefault();
			if (body.current) document.getSelection()?.selectAllChildren(body.current);
		};
		window.addEventListener('keydown', listen);
		return () => window.removeEventListener('keydown', listen);
	}, [isOpen, body]);
}

/** Escape leaves full screen, and only the next one the panel. */
function useEscape(isOpen: boolean, onEscape: () => void): void {
	const latest = useLatest(onEscape);
	useLayoutEffect(() => {
		if (!isOpen) return;
		const listen = (event: KeyboardEvent) => {
			if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event)) return;
			event.preventDefault();
			if (document.fullscreenElement) void document.exitFullscreen();
			else latest.current();
		};
		window.addEventListener('keydown', listen);
		return () => window.removeEventListener('keydown', listen);
	}, [isOpen]);
}
