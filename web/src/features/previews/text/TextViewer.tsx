import { Button, ButtonGroup, HTMLSelect } from '@blueprintjs/core';
import { EditIcon } from '@blueprintjs/icons';
import { extensionOf, fileType, previewLimits } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { type CSSProperties, useEffect, useMemo, useRef, useState } from 'react';
import { queryKeys } from '../../../api/queryKeys.js';
import { lazyComponent } from '../../../ui/lazyComponent.js';
import { keptAsRead } from '../common/bytes/previewQuery.js';
import { useWhole } from '../common/bytes/useWhole.js';
import { NotLoaded } from '../common/viewer/NotLoaded.js';
import { NotRead } from '../common/viewer/NotRead.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import viewerStyles from '../common/viewer/viewers.module.css';
import { editorMessages } from '../editor/messages.js';
import { mayEdit, useEditing } from '../editor/useEditing.js';
import { previewMessages as messages } from '../messages.js';
import { detectEncoding } from './detectEncoding.js';
import { decode, type Encoding, encodings } from './encodings.js';
import { languageOf, maxHighlighted } from './languages.js';
import { runInTextWorker } from './runInTextWorker.js';
import { type SourceBlock, textBlocks } from './sourceBlocks.js';
import styles from './TextViewer.module.css';

const TextEditor = lazyComponent(async () => (await import('../editor/TextEditor.js')).TextEditor);
const TextTable = lazyComponent(async () => (await import('./TextTable.js')).TextTable);

type View = 'source' | 'rendered';
type Rendering = 'markdown' | 'table' | 'none';

export function TextViewer({ viewer, area, file, entry, onShow }: ViewerProps) {
	const rendering = renderingOf(file.name);
	const [view, setView] = useState<View>(rendering === 'table' ? 'rendered' : 'source');
	const [chosen, setChosen] = useState<Encoding>();
	const { data: bytes, error, refetch } = useWhole(file.url, file.id, previewLimits.text);
	const detection = useQuery({
		queryKey: queryKeys.previews.encoding(file.id),
		queryFn: ({ signal }) => detectEncoding(bytes as Uint8Array, signal),
		enabled: bytes !== undefined,
		retry: false,
		gcTime: 0,
		staleTime: Number.POSITIVE_INFINITY,
		...keptAsRead,
	});
	const encoding = chosen ?? detection.data;
	const text = useMemo(() => (bytes && encoding ? decode(bytes, encoding) : undefined), [bytes, encoding]);

	/** Whether the editor was left, whose focus the button gets that opened it. */
	const wasEditing = useRef(false);
	const editing = useEditing(file.name, file.url, detectEncoding);

	if (editing.edited) {
		return (
			<TextEditor
				area={area}
				entry={entry}
				url={file.url}
				edited={editing.edited}
				detect={detectEncoding}
				fallback={<ViewerLoading />}
				onLoadFailed={editing.close}
				onDone={(shown) => {
					wasEditing.current = true;
					editing.close();
					if (shown) onShow(shown);
				}}
			/>
		);
	}
	if (error) {
		return <NotRead file={file} title={messages.failures.text[0]} error={error} onRetry={() => void refetch()} />;
	}
	if (text === undefined && detection.isError && !detection.isFetching) {
		return <NotLoaded file={file} onRetry={() => void detection.refetch()} />;
	}
	if (text === undefined || encoding === undefined) return <ViewerLoading />;
	return (
		<div className={styles.viewer}>
			<div className={`${viewerStyles.bar} ${viewerStyles.topBar}`} role="toolbar" aria-label={messages.textControls}>
				<HTMLSelect
					minimal
					aria-label={messages.encoding}
					value={encoding}
					options={[...encodings]}
					onChange={({ currentTarget }) => setChosen(currentTarget.value as Encoding)}
				/>
				<span className={viewerStyles.spacer} />
				{rendering !== 'none' && (
					<ButtonGroup className={styles.views} role="group" aria-label={messages.view}>
						{(['source', 'rendered'] as const).map((each) => (
							<Button key={each} text={messages[each]} aria-pressed={view === each} onClick={() => setView(each)} />
						))}
					</ButtonGroup>
				)}
				{mayEdit(viewer, area, entry) && (
					<Button
						ref={(button) => {
							if (!button || !wasEditing.current) return;
							wasEditing.current = false;
							button.focus();
						}}
						icon={<EditIcon />}
						text={editorMessages.edit}
						loading={editing.isOpening}
						onClick={() => void editing.open(chosen)}
					/>
				)}
			</div>
			{text === '' ? (
				<p className={viewerStyles.state}>{messages.emptyFile}</p>
			) : view === 'rendered' && rendering === 'markdown' ? (
				<Markdown text={text} />
			) : view === 'rendered' && rendering === 'table' ? (
				<Separated text={text} isTabs={extensionOf(file.name) === 'tsv'} id={file.id} encoding={encoding} />
			) : (
				<Source text={text} name={file.name} />
			)}
		</div>
	);
}

function renderingOf(name: string): Rendering {
	if (fileType(name) === 'markdown') return 'markdown';
	return ['csv', 'tsv'].includes(extensionOf(name)) ? 'table' : 'none';
}

/** In place of what can't be rendered, with the sentence that says why. */
function NotRendered({ text, name, reason }: { text: string; name: string; reason: string }) {
	return (
		<>
			<p className={styles.note} role="status">
				{reason}
			</p>
			<Source text={text} name={name} />
		</>
	);
}

/** Plain at first, and in colours as soon as a worker has found them. */
function Source({ text, name }: { text: string; name: string }) {
	const language = text.length <= maxHighlighted ? languageOf(name) : undefined;
	const plain = useMemo(() => textBlocks(text), [text]);
	const [coloured, setColoured] = useState<{ text: string; blocks: readonly SourceBlock[] }>();
	useEffect(() => {
		if (language === undefined) return;
		const abort = new AbortController();
		runInTextWorker({ kind: 'highlight', text, language }, abort.signal).then(
			(blocks) => {
				if (blocks !== undefined && !abort.signal.aborted) setColoured({ text, blocks });
			},
			// It can be read without colours as well.
			() => {},
		);
		return () => abort.abort();
	}, [text, language]);
	const isColoured = coloured?.text === text;
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by the keyboard
		<pre className={styles.source} tabIndex={0}>
			<code>
				{(isColoured ? coloured.blocks : plain).map(({ lines, content }, index) => {
					const props = { className: styles.block, style: { '--lines': lines } as CSSProperties };
					return isColoured ? (
						// biome-ignore lint/suspicious/noArrayIndexKey: a block is known by its place alone
						// biome-ignore lint/security/noDangerouslySetInnerHtml: the highlighter escapes all text and adds spans alone
						<span key={index} {...props} dangerouslySetInnerHTML={{ __html: content }} />
					) : (
						// biome-ignore lint/suspicious/noArrayIndexKey: a block is known by its place alone
						<span key={index} {...props}>
							{content}
						</span>
					);
				})}
			</code>
		</pre>
	);
}

function Markdown({ text }: { text: string }) {
	const place = useRef<HTMLDivElement>(null);
	const [isLoading, setLoading] = useState(true);
	const [failed, setFailed] = useState<{ text: string; reason: string }>();
	useEffect(() => {
		const abort = new AbortController();
		const { signal } = abort;
		Promise.all([runInTextWorker({ kind: 'markdown', text }, signal), import('./renderMarkdown.js')]).then(
			([nodes, { renderMarkdown }]) => {
				if (signal.aborted) return;
				setLoading(false);
				if (nodes === undefined) setFailed({ text, reason: messages.notRendered });
				else place.current?.replaceChildren(renderMarkdown(nodes));
			},
			() => !signal.aborted && setFailed({ text, reason: messages.notLoaded }),
		);
		return () => abort.abort();
	}, [text]);
	if (failed?.text === text) return <NotRendered text={text} name="text.txt" reason={failed.reason} />;
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by the keyboard
		<article className={styles.page} tabIndex={0}>
			{isLoading && <ViewerLoading />}
			<div ref={place} className={styles.markdown} />
		</article>
	);
}

interface SeparatedProps {
	text: string;
	isTabs: boolean;
	/** The file, and the encoding in which it has this text. */
	id: string;
	encoding: Encoding;
}

function Separated({ text, isTabs, id, encoding }: SeparatedProps) {
	const {
		data: rows,
		isPending,
		isError,
	} = useQuery({
		queryKey: queryKeys.previews.table(id, encoding),
		queryFn: async ({ signal }) =>
			(await runInTextWorker({ kind: 'table', text, delimiter: isTabs ? '\t' : '' }, signal)) ?? null,
		retry: false,
		gcTime: 0,
		staleTime: Number.POSITIVE_INFINITY,
		...keptAsRead,
	});
	const [hasNoTable, setNoTable] = useState(false);
	const isMissing = isError || hasNoTable;
	if (isPending) return <ViewerLoading />;
	if (!rows || isMissing) {
		return <NotRendered text={text} name="table.txt" reason={isMissing ? messages.notLoaded : messages.notRendered} />;
	}
	// A table that is not one is shown as it is.
	if (rows.length === 0) return <Source text={text} name="table.txt" />;
	return (
		<TextTable
			rows={rows}
			fallback={<ViewerLoading />}
			onLoadFailed={() => setNoTable(true)}
			isFailureReported={false}
		/>
	);
}
