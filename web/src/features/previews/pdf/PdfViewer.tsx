import { Button, InputGroup } from '@blueprintjs/core';
import {
	ChevronDownIcon,
	ChevronUpIcon,
	MinusIcon,
	PlusIcon,
	PropertiesIcon,
	SearchIcon,
	ShareIcon,
} from '@blueprintjs/icons';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useKeys } from '../common/useKeys.js';
import { ViewerError } from '../common/ViewerError.js';
import { ViewerLoading } from '../common/ViewerLoading.js';
import type { ViewerProps } from '../common/ViewerProps.js';
import viewerStyles from '../common/viewers.module.css';
import { previewMessages as messages } from '../messages.js';
import { PdfPluginMissing } from './loadPdf.js';
import { Outline } from './Outline.js';
import styles from './PdfViewer.module.css';
import './pdfPages.css';
import { type PdfPages, showPdf } from './showPdf.js';

type State = { status: 'loading' } | { status: 'shown'; pages: PdfPages } | { status: 'failed'; error: unknown };

export function PdfViewer({ file }: ViewerProps) {
	const container = useRef<HTMLDivElement>(null);
	const [state, setState] = useState<State>({ status: 'loading' });
	const [page, setPage] = useState(1);
	const [scale, setScale] = useState(1);
	const [found, setFound] = useState<{ current: number; total: number }>();
	const [hasOutline, setOutline] = useState(false);
	const pages = state.status === 'shown' ? state.pages : undefined;

	useEffect(() => {
		const element = container.current;
		if (!element) return;
		const abort = new AbortController();
		showPdf(element, file.url, { onPage: setPage, onScale: setScale, onFound: setFound }, abort.signal).then(
			(shown) => !abort.signal.aborted && setState({ status: 'shown', pages: shown }),
			(error: unknown) => !abort.signal.aborted && setState({ status: 'failed', error }),
		);
		return () => abort.abort();
	}, [file.url]);

	useKeys(({ key }) => {
		if (!pages) return false;
		if (key === '+' || key === '=') pages.zoomIn();
		else if (key === '-') pages.zoomOut();
		else return false;
		return true;
	});

	if (state.status === 'failed') {
		const isMissing = state.error instanceof PdfPluginMissing;
		const [title, text] = isMissing ? [messages.noPdfPlugin] : messages.failures.pdf;
		return (
			<ViewerError file={file} title={title} text={text} reason={isMissing ? undefined : reasonOf(state.error)}>
				<a className="bp6-button" href={`${file.url}&inline=1`} target="_blank" rel="noopener">
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
				{pages && pages.outline.length > 0 && (
					<Button
						variant="minimal"
						icon={<PropertiesIcon />}
						aria-label={messages.outline}
						aria-expanded={hasOutline}
						active={hasOutline}
						onClick={() => setOutline(!hasOutline)}
					/>
				)}
				<PageField key={page} page={page} count={pages?.count} onPage={(wanted) => pages?.goTo(wanted)} />
				<span className={viewerStyles.gap} />
				<Button
					variant="minimal"
					icon={<MinusIcon />}
					aria-label={messages.zoomOut}
					disabled={!pages}
					onClick={() => pages?.zoomOut()}
				/>
				<output className={styles.scale} aria-label={messages.zoom}>
					{Math.round(scale * 100)}%
				</output>
				<Button
					variant="minimal"
					icon={<PlusIcon />}
					aria-label={messages.zoomIn}
					disabled={!pages}
					onClick={() => pages?.zoomIn()}
				/>
				<span className={viewerStyles.spring} />
				<FindField pages={pages} found={found} onCleared={() => setFound(undefined)} />
			</div>
			<div className={styles.middle}>
				{hasOutline && pages && <Outline pages={pages} />}
				<div className={styles.place}>
					{state.status === 'loading' && <ViewerLoading />}
					{/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by the keyboard */}
					<div ref={container} className={styles.container} tabIndex={0} role="document" aria-label={file.name}>
						<div className="pdfViewer" />
					</div>
				</div>
			</div>
		</div>
	);
}

function reasonOf(error: unknown): string | undefined {
	if (!(error instanceof Error)) return undefined;
	if (error.name === 'PasswordException') return messages.passwordProtected;
	const status = (error as Error & { status?: number }).status;
	return status === undefined || status === 0 ? undefined : `HTTP ${status}`;
}

interface PageFieldProps {
	page: number;
	count: number | undefined;
	onPage: (page: number) => void;
}

function PageField({ page, count, onPage }: PageFieldProps) {
	const [text, setText] = useState(String(page));
	const go = () => {
		const wanted = Number(text);
		if (count !== undefined && Number.isInteger(wanted) && wanted >= 1 && wanted <= count) onPage(wanted);
		else setText(String(page));
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
				value={text}
				disabled={count === undefined}
				onValueChange={setText}
				onBlur={go}
			/>
			<span>/ {count ?? '–'}</span>
		</form>
	);
}

interface FindFieldProps {
	pages: PdfPages | undefined;
	found: { current: number; total: number } | undefined;
	onCleared: () => void;
}

function FindField({ pages, found, onCleared }: FindFieldProps) {
	const [query, setQuery] = useState('');
	const [asked, setAsked] = useState('');
	const find = (direction: 'next' | 'previous') => {
		if (query === '') onCleared();
		pages?.find(query, query !== asked ? 'first' : direction);
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
				disabled={!pages}
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
				disabled={!pages || query === ''}
			/>
		</form>
	);
}
