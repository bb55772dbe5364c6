import { Button } from '@blueprintjs/core';
import { ChevronLeftIcon, ChevronRightIcon, PropertiesIcon } from '@blueprintjs/icons';
import { previewLimits } from '@stowage/rules';
import { useEffect, useMemo, useReducer, useRef, useState } from 'react';
import { useWhole } from '../common/bytes/useWhole.js';
import { NotRead } from '../common/viewer/NotRead.js';
import { createSavedPositions } from '../common/viewer/savedPositions.js';
import { useKeys } from '../common/viewer/useKeys.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import viewerStyles from '../common/viewer/viewers.module.css';
import type { ContentEvent } from '../frame/frameMessages.js';
import { ViewerFrame, type ViewerFrameHandle } from '../frame/ViewerFrame.js';
import { previewMessages as messages } from '../messages.js';
import { BookContents } from './BookContents.js';
import styles from './EpubViewer.module.css';
import { nextReading, parsePosition, type Reading, type ReadingAction, storedPosition } from './reading.js';

const positions = createSavedPositions('stowage.bookPlaces');
const sizes = createSavedPositions('stowage.bookTextSize');

const minSize = 70;
const maxSize = 200;
const sizeStep = 10;
const keys = ['ArrowLeft', 'ArrowRight', 'PageDown', 'PageUp', ' '];
const isReadingEvent = (event: ContentEvent): event is Extract<ContentEvent, ReadingAction> =>
	['opened', 'failed', 'chapterShown', 'chapterFailed', 'ended', 'followed'].includes(event.kind);
const isWide = () => window.matchMedia('(min-width: 900px)').matches;

const beginReading = (id: string): Reading => ({ status: 'loading', position: parsePosition(positions.read(id)) });

/** Reads a book in a frame of its own, chapter by chapter, from the last position. */
export function EpubViewer({ file }: ViewerProps) {
	const { data: bytes, error, refetch } = useWhole(file.url, file.id, previewLimits.epub);
	const [reading, act] = useReducer(nextReading, file.id, beginReading);
	const [size, setSize] = useState(() => Number(sizes.read('percent') ?? 100) || 100);
	const [hasContents, setContents] = useState(isWide);
	const frame = useRef<ViewerFrameHandle>(null);
	const contents = useRef<HTMLButtonElement>(null);
	const content = useMemo(() => bytes && ({ kind: 'book', bytes, fileName: file.name } as const), [bytes, file.name]);
	const open = reading.status === 'open' ? reading : undefined;
	const book = open?.book;
	const position = open?.position;
	const state = open?.chapter;
	const isReady = open?.isReady === true;
	/** Each frame that was silent gives way to another one. */
	const [frames, setFrames] = useState(1);
	const chapter = position?.chapter ?? 0;
	const count = book?.chapters.length ?? 0;
	// At an end a button is not `disabled`: it would lose the focus.
	const isAside = open?.from !== undefined;
	const hasPrevious = isAside || chapter > 0;
	const hasNext = isAside || chapter < count - 1;

	useEffect(() => {
		if (position && isReady && state === 'wanted') frame.current?.send({ kind: 'chapter', ...position });
	}, [position, isReady, state]);
	useEffect(() => {
		// One that can't be shown would be the first of the book from then on.
		if (!position || state !== 'shown' || isAside) return;
		// A book that was only looked at is not remembered.
		const isRead = position.chapter > 0 || positions.read(file.id) !== undefined;
		if (isRead) positions.write(file.id, storedPosition(position));
	}, [position, state, isAside, file.id]);
	useEffect(() => {
		if (isReady) frame.current?.send({ kind: 'textSize', percent: size });
	}, [isReady, size]);

	const onEvent = (event: ContentEvent) => {
		if (event.kind === 'scrolled') {
			if (event.chapter === chapter && state === 'shown' && !isAside) positions.write(file.id, storedPosition(event));
		} else if (isReadingEvent(event)) act(event);
	};
	const turn = (by: 1 | -1) =>
		state === 'failed' ? act({ kind: 'stepped', by }) : frame.current?.send({ kind: 'turn', by });
	const resize = (by: number) => {
		const next = Math.min(maxSize, Math.max(minSize, size + by));
		setSize(next);
		sizes.write('percent', String(next));
	};
	useKeys(({ key, shiftKey }) => {
		if (key === 'ArrowLeft') act({ kind: 'stepped', by: -1 });
		else if (key === 'ArrowRight') act({ kind: 'stepped', by: 1 });
		else if (key === ' ') turn(shiftKey ? -1 : 1);
		else if (key === 'PageDown') turn(1);
		else if (key === 'PageUp') turn(-1);
		else return false;
		return true;
	});

	const [title] = messages.failures.epub;
	if (error) return <NotRead file={file} title={title} error={error} onRetry={() => void refetch()} />;
	if (reading.status === 'failed') return <ViewerError file={file} title={title} text={reading.reason} />;
	return (
		<div className={styles.viewer}>
			<div className={`${viewerStyles.bar} ${viewerStyles.topBar}`} role="toolbar" aria-label={messages.bookControls}>
				<Button
					ref={contents}
					variant="minimal"
					icon={<PropertiesIcon />}
					text={messages.contents}
					aria-expanded={hasContents}
					active={hasContents}
					onClick={() => setContents(!hasContents)}
				/>
				<span className={viewerStyles.spacer} />
				<Button
					variant="minimal"
					text="A"
					className={styles.smaller}
					aria-label={messages.smallerText}
					aria-disabled={size <= minSize}
					onClick={() => resize(-sizeStep)}
				/>
				<Button
					variant="minimal"
					text="A"
					className={styles.larger}
					aria-label={messages.largerText}
					aria-disabled={size >= maxSize}
					onClick={() => resize(sizeStep)}
				/>
			</div>
			<div className={styles.middle}>
				{hasContents && book && (
					<BookContents
						book={book}
						current={book.chapters[chapter] ?? book.asides[chapter - count] ?? ''}
						onChoose={(href) => {
							if (!isWide()) {
								// The line that has the focus goes.
								contents.current?.focus();
								setContents(false);
							}
							act({ kind: 'followed', href });
						}}
					/>
				)}
				<div className={styles.page}>
					{(!book || (state === 'wanted' && !isReady)) && <ViewerLoading />}
					{state === 'failed' && (
						<div className={styles.failed}>
							<ViewerError file={file} title={messages.failedChapter} text={messages.failedChapterDetail} />
						</div>
					)}
					<ViewerFrame
						key={frames}
						ref={frame}
						className={styles.frame}
						title={book?.title ?? file.name}
						content={content}
						keys={keys}
						onEvent={onEvent}
						onSilent={() => {
							act({ kind: 'silent' });
							setFrames(frames + 1);
						}}
					/>
				</div>
			</div>
			<div className={viewerStyles.bar}>
				<Button
					variant="minimal"
					icon={<ChevronLeftIcon />}
					text={messages.previous}
					aria-disabled={!hasPrevious}
					onClick={() => hasPrevious && act({ kind: 'stepped', by: -1 })}
				/>
				<span className={styles.counter} role="status">
					{book && `${(open?.from?.chapter ?? chapter) + 1} / ${count}`}
				</span>
				<Button
					variant="minimal"
					endIcon={<ChevronRightIcon />}
					text={messages.next}
					aria-disabled={!hasNext}
					onClick={() => hasNext && act({ kind: 'stepped', by: 1 })}
				/>
			</div>
		</div>
	);
}
