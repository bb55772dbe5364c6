import { Button, InputGroup } from '@blueprintjs/core';
import { ChevronDownIcon, ChevronUpIcon, PropertiesIcon, SearchIcon, ShareIcon } from '@blueprintjs/icons';
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { type FilePart, HttpFailure, readPart } from '../../../api/previews.js';
import { useLatest } from '../../../ui/useLatest.js';
import type { PreviewFile } from '../common/bytes/previewFile.js';
import { useZoomKeys, zoomKeys } from '../common/viewer/useZoomKeys.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import viewerStyles from '../common/viewer/viewers.module.css';
import { ZoomButtons } from '../common/viewer/ZoomButtons.js';
import type { ContentEvent, FrameCommand, FrameContent, OutlineItem } from '../frame/frameMessages.js';
import { ViewerFrame, type ViewerFrameHandle } from '../frame/ViewerFrame.js';
import { previewMessages as messages } from '../messages.js';
import { Outline } from './Outline.js';
import styles from './PdfViewer.module.css';

type State =
	| { status: 'loading' }
	| { status: 'shown'; count: number; outline: readonly OutlineItem[] }
	| { status: 'failed'; error: unknown };

/** What its frame says when the code that draws PDFs could not be had, or when one can't be read without a password. */
const missing = 'missing';
const password = 'password';

/** Draws a PDF in a frame of its own, which asks for the parts of the file that it needs. */
export function PdfViewer({ file }: ViewerProps) {
	const frame = useRef<ViewerFrameHandle>(null);
	const content = useMemo<FrameContent>(
		() => ({ kind: 'pdf', size: file.size, fileName: file.name }),
		[file.size, file.name],
	);
	const [state, setState] = useState<State>({ status: 'loading' });
	const [page, setPage] = useState(1);
	const [scale, setScale] = useState(1);
	const [found, setFound] = useState<{ current: number; total: number }>();
	const [hasOutline, setOutline] = useState(false);
	const fail = (error: unknown) => setState({ status: 'failed', error });
	const read = useParts(file, (part) => frame.current?.send({ kind: 'bytes', ...part }), fail);
	const shown = state.status === 'shown' ? state : undefined;
	const send = shown && ((command: FrameCommand) => frame.current?.send(command));

	const onEvent = (event: ContentEvent) => {
		if (event.kind === 'part') read(event.begin, event.end);
		else if (event.kind === 'paged') setState({ status: 'shown', count: event.pages, outline: event.outline });
		else if (event.kind === 'page') setPage(event.page);
		else if (event.kind === 'scale') setScale(event.scale);
		else if (event.kind === 'found') setFound(event);
		else if (event.kind === 'failed') fail(event.reason);
	};

	const zoom = send && ((to: 'in' | 'out') => send({ kind: 'zoom', to }));
	useZoomKeys(zoom);

	if (state.status === 'failed') {
		const isMissing = state.error === missing;
		const [title, text] = isMissing ? [messages.noPdfPlugin] : messages.failures.pdf;
		return (
			<ViewerError file={file} title={title} text={text} reason={isMissing ? undefined : reasonOf(state.error)}>
				<a className="bp6-button" href={file.tabUrl} target="_blank" rel="noopener">
					<ShareIcon aria-hidden />
					<span className="bp6-button-text">{messages.openInNewTab}</span>
				</a>
			</ViewerError>
		);
	}
	return (
		<div className={styles.viewer}>
			<div
				className={`${viewerStyles.bar} ${viewerStyles.topBar} ${styles.bar}`}
				role="toolbar"
				aria-label={messages.pdfControls}
			>
				{shown && shown.outline.length > 0 && (
					<Button
						variant="minimal"
						icon={<PropertiesIcon />}
						aria-label={messages.outline}
						aria-expanded={hasOutline}
						active={hasOutline}
						onClick={() => setOutline(!hasOutline)}
					/>
				)}
				<PageField page={page} count={shown?.count} onPage={(wanted) => send?.({ kind: 'goToPage', page: wanted })} />
				<span className={viewerStyles.gap} />
				<ZoomButtons scale={scale} onZoom={zoom} />
				<span className={viewerStyles.spacer} />
				<FindField
					onFind={send && ((query, step) => send({ kind: 'find', query, step }))}
					found={found}
					onCleared={() => setFound(undefined)}
				/>
			</div>
			<div className={styles.middle}>
				{hasOutline && shown && (
					<Outline items={shown.outline} onChoose={(destination) => send?.({ kind: 'goToDestination', destination })} />
				)}
				<div className={styles.place}>
					{state.status === 'loading' && <ViewerLoading />}
					<ViewerFrame
						ref={frame}
						className={styles.frame}
						title={file.name}
						content={content}
						keys={zoomKeys}
						onEvent={onEvent}
					/>
				</div>
			</div>
		</div>
	);
}

/** Reads parts of a file for its frame: each of its bytes once, and not much more often, whatever the frame asks for. */
function useParts(
	{ url, size }: PreviewFile,
	onPart: (part: { begin: number; bytes: Uint8Array }) => void,
	onFailed: (error: unknown) => void,
): (begin: number, end: number) => void {
	const latest = useLatest({ onPart, onFailed });
	const reading = useRef<{ abort: AbortController; left: number }>(undefined);
	useEffect(() => {
		const abort = new AbortController();
		reading.current = { abort, left: 2 * size + 1024 * 1024 };
		return () => abort.abort();
	}, [size]);
	return (begin, end) => {
		const { current } = reading;
		if (!current) return;
		const { signal } = current.abort;
		current.left -= end - begin;
		if (end <= begin || current.left < 0) latest.current.onFailed(undefined);
		else {
			readAgain(url, begin, end, signal).then(
				({ bytes }) => latest.current.onPart({ begin, bytes }),
				(error: unknown) => !signal.aborted && latest.current.onFailed(error),
			);
		}
	};
}

/** Pauses before further attempts, after a connection was lost or while the server is busy. */
const retryMs = [1000, 3000, 9000];

async function readAgain(url: string, begin: number, end: number, signal: AbortSignal): Promise<FilePart> {
	for (const ms of retryMs) {
		try {
			return await readPart(url, begin, end, signal);
		} catch (error) {
			if (signal.aborted || (error instanceof HttpFailure && error.answered < 429)) throw error;
			await new Promise((resolve) => setTimeout(resolve, ms));
		}
	}
	return readPart(url, begin, end, signal);
}

function reasonOf(error: unknown): string | undefined {
	if (error === password) return messages.passwordProtected;
	return error instanceof HttpFailure ? error.message : undefined;
}

interface PageFieldProps {
	page: number;
	count: number | undefined;
	onPage: (page: number) => void;
}

function PageField({ page, count, onPage }: PageFieldProps) {
	/** What was typed and is not gone to yet: it stays when the page on screen becomes another one. */
	const [typed, setTyped] = useState<string>();
	const go = () => {
		setTyped(undefined);
		const wanted = Number(typed);
		if (count !== undefined && Number.isInteger(wanted) && wanted >= 1 && wanted <= count) onPage(wanted);
	};
	return (
		<form
			className={styles.page}
			onSubmit={(event) => {
				event.preventDefault();
				go();
			}}
		>
			<InputGroup
				className={styles.pageField}
				aria-label={messages.page}
				inputMode="numeric"
				value={typed ?? String(page)}
				disabled={count === undefined}
				onValueChange={setTyped}
				onBlur={go}
			/>
			<span>/ {count ?? '–'}</span>
		</form>
	);
}

interface FindFieldProps {
	/** Undefined before there is anything to search. */
	onFind: ((query: string, step: 'first' | 'next' | 'previous') => void) | undefined;
	found: { current: number; total: number } | undefined;
	onCleared: () => void;
}

function FindField({ onFind, found, onCleared }: FindFieldProps) {
	const [query, setQuery] = useState('');
	const [asked, setAsked] = useState('');
	const find = (direction: 'next' | 'previous') => {
		if (query === '') onCleared();
		onFind?.(query, query !== asked ? 'first' : direction);
		setAsked(query);
	};
	const hasResult = asked !== '' && asked === query && found !== undefined;
	return (
		<form
			className={styles.find}
			onSubmit={(event: FormEvent) => {
				event.preventDefault();
				find('next');
			}}
		>
			<InputGroup
				className={styles.findField}
				type="search"
				leftElement={<SearchIcon className={styles.findIcon} />}
				aria-label={messages.search}
				placeholder={messages.search}
				value={query}
				disabled={!onFind}
				onValueChange={setQuery}
			/>
			<span className={styles.found} role="status">
				{hasResult ? (found.total === 0 ? messages.notFound : messages.foundOf(found.current, found.total)) : ''}
			</span>
			<Button
				variant="minimal"
				icon={<ChevronUpIcon />}
				aria-label={messages.previousResult}
				disabled={!hasResult || found.total === 0}
				onClick={() => find('previous')}
			/>
			<Button
				type="submit"
				variant="minimal"
				icon={<ChevronDownIcon />}
				aria-label={messages.nextResult}
				disabled={!onFind || query === ''}
			/>
		</form>
	);
}
