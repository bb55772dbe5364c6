import { Button } from '@blueprintjs/core';
import { ChevronLeftIcon, ChevronRightIcon, PropertiesIcon } from '@blueprintjs/icons';
import { previewLimits } from '@stowage/rules';
import { useEffect, useRef, useState } from 'react';
import { createSavedPositions } from '../common/savedPositions.js';
import { useKeys } from '../common/useKeys.js';
import { useWhole } from '../common/useWhole.js';
import { ViewerError } from '../common/ViewerError.js';
import { ViewerLoading } from '../common/ViewerLoading.js';
import type { ViewerProps } from '../common/ViewerProps.js';
import viewerStyles from '../common/viewers.module.css';
import { parserOf } from '../frame/cleanMarkup.js';
import { ViewerFrame } from '../frame/ViewerFrame.js';
import { previewMessages as messages } from '../messages.js';
import { BookContents } from './BookContents.js';
import styles from './EpubViewer.module.css';
import { type Book, joined, readBook, UnreadableBook } from './readBook.js';
import { renderChapter } from './renderChapter.js';

const positions = createSavedPositions('stowage.bookPlaces');
const sizes = createSavedPositions('stowage.bookTextSize');

const minSize = 70;
const maxSize = 200;
const sizeStep = 10;
const savePositionMs = 300;
/** The last line of a page is the first of the next. */
const pageShare = 0.9;
const isWide = () => window.matchMedia('(min-width: 900px)').matches;

/** A reading position: a chapter, and an offset or an element in it. */
interface BookPosition {
	chapter: number;
	down?: number;
	fragment?: string;
}

type Reading =
	| { status: 'loading' }
	| { status: 'open'; book: Book }
	| { status: 'failed'; reason: string | undefined };

export function EpubViewer({ file }: ViewerProps) {
	const { data: bytes, error } = useWhole(file.url, file.id, previewLimits.epub);
	const [reading, setReading] = useState<Reading>({ status: 'loading' });
	const [frame, setFrame] = useState<Document>();
	const [place, setPlace] = useState<BookPosition>(() => parsePosition(positions.read(file.id)));
	const [size, setSize] = useState(() => Number(sizes.read('percent') ?? 100) || 100);
	const [hasContents, setContents] = useState(isWide);
	const book = reading.status === 'open' ? reading.book : undefined;
	const count = book?.chapters.length ?? 0;
	const chapter = Math.min(place.chapter, Math.max(0, count - 1));

	useEffect(() => {
		if (!bytes || !frame) return;
		try {
			setReading({ status: 'open', book: readBook(bytes, file.name, parserOf(frame)) });
		} catch (cause) {
			setReading({ status: 'failed', reason: cause instanceof UnreadableBook ? cause.message : undefined });
		}
	}, [bytes, frame, file.name]);

	const wanted = useRef(place);
	wanted.current = place;
	useEffect(() => {
		const path = book?.chapters[chapter];
		if (!book || !frame || path === undefined) return;
		let end = () => {};
		try {
			end = renderChapter(book, path, frame);
		} catch {
			// It is too large, or its chapter is broken.
			setReading({ status: 'failed', reason: undefined });
			return;
		}
		const { down = 0, fragment } = wanted.current;
		goTo(frame, fragment, down);
		let timer: ReturnType<typeof setTimeout> | undefined;
		const savePlace = () => positions.write(file.id, `${chapter}:${scrolledShare(frame).toFixed(4)}`);
		const listen = () => {
			clearTimeout(timer);
			timer = setTimeout(savePlace, savePositionMs);
		};
		if (chapter > 0 || positions.read(file.id) !== undefined) positions.write(file.id, `${chapter}:${down.toFixed(4)}`);
		frame.addEventListener('scroll', listen);
		return () => {
			clearTimeout(timer);
			frame.removeEventListener('scroll', listen);
			end();
		};
	}, [book, chapter, frame, file.id]);

	useEffect(() => {
		frame?.documentElement.style.setProperty('font-size', `${size}%`);
	}, [frame, size]);

	const step = (by: number, down = 0) => {
		const to = chapter + by;
		if (to < 0 || to >= count) return;
		setPlace({ chapter: to, down });
	};
	const turn = (by: 1 | -1) => {
		const scroller = frame?.scrollingElement;
		if (!scroller) return;
		const before = scroller.scrollTop;
		scroller.scrollTop += by * scroller.clientHeight * pageShare;
		if (Math.abs(scroller.scrollTop - before) < 2) step(by, by < 0 ? 1 : 0);
	};
	const openLink = (href: string) => {
		const [path, fragment] = href.split('#', 2);
		const to = book?.chapters.indexOf(path ?? '') ?? -1;
		if (to < 0) return;
		if (to === chapter && frame) goTo(frame, fragment, 0);
		setPlace({ chapter: to, ...(fragment === undefined ? {} : { fragment }) });
	};
	const resize = (by: number) => {
		const next = Math.min(maxSize, Math.max(minSize, size + by));
		setSize(next);
		sizes.write('percent', String(next));
	};
	useKeys(({ key, shiftKey }) => {
		if (key === 'ArrowLeft') step(-1);
		else if (key === 'ArrowRight') step(1);
		else if (key === ' ') turn(shiftKey ? -1 : 1);
		else if (key === 'PageDown') turn(1);
		else if (key === 'PageUp') turn(-1);
		else return false;
		return true;
	});

	if (error || reading.status === 'failed') {
		const reason = error?.message ?? (reading.status === 'failed' ? reading.reason : undefined);
		return <ViewerError file={file} title={messages.failures.epub[0]} text={reason} />;
	}
	return (
		<div className={styles.viewer}>
			<div className={`${viewerStyles.bar} ${viewerStyles.topBar}`} role="toolbar" aria-label={messages.bookControls}>
				<Button
					variant="minimal"
					icon={<PropertiesIcon />}
					text={messages.contents}
					aria-expanded={hasContents}
					active={hasContents}
					onClick={() => setContents(!hasContents)}
				/>
				<span className={viewerStyles.spring} />
				<Button
					variant="minimal"
					text="A"
					className={styles.smaller}
					aria-label={messages.smallerText}
					disabled={size <= minSize}
					onClick={() => resize(-sizeStep)}
				/>
				<Button
					variant="minimal"
					text="A"
					className={styles.larger}
					aria-label={messages.largerText}
					disabled={size >= maxSize}
					onClick={() => resize(sizeStep)}
				/>
			</div>
			<div className={styles.middle}>
				{hasContents && book && (
					<BookContents
						book={book}
						current={book.chapters[chapter] ?? ''}
						onChoose={(href) => {
							if (!isWide()) setContents(false);
							openLink(href);
						}}
					/>
				)}
				<div className={styles.page}>
					{!book && <ViewerLoading />}
					<ViewerFrame
						className={styles.frame}
						title={book?.title ?? file.name}
						onReady={setFrame}
						onLink={(address) => book && openLink(joined(book.chapters[chapter] ?? '', address))}
					/>
				</div>
			</div>
			<div className={viewerStyles.bar}>
				<Button
					variant="minimal"
					icon={<ChevronLeftIcon />}
					text={messages.previous}
					disabled={chapter <= 0}
					onClick={() => step(-1)}
				/>
				<span className={styles.counter} role="status">
					{book && `${chapter + 1} / ${count}`}
				</span>
				<Button
					variant="minimal"
					endIcon={<ChevronRightIcon />}
					text={messages.next}
					disabled={!book || chapter >= count - 1}
					onClick={() => step(1)}
				/>
			</div>
		</div>
	);
}

function parsePosition(kept: string | undefined): BookPosition {
	const [chapter, down] = (kept ?? '').split(':').map(Number);
	if (chapter === undefined || !Number.isInteger(chapter) || chapter < 0) return { chapter: 0 };
	return { chapter, down: down !== undefined && down >= 0 && down <= 1 ? down : 0 };
}

function goTo(frame: Document, fragment: string | undefined, down: number): void {
	const scroller = frame.scrollingElement;
	if (!scroller) return;
	const target = fragment === undefined ? null : frame.getElementById(fragment);
	if (target) target.scrollIntoView();
	else scroller.scrollTop = down * (scroller.scrollHeight - scroller.clientHeight);
}

/** How far down a chapter has been read, from 0 to 1. */
function scrolledShare(frame: Document): number {
	const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = frame.scrollingElement ?? {};
	return scrollHeight > clientHeight ? scrollTop / (scrollHeight - clientHeight) : 0;
}
