import { Button } from '@blueprintjs/core';
import { ImageRotateRightIcon, MinusIcon, PlusIcon, ResetIcon } from '@blueprintjs/icons';
import type { Entry } from '@stowage/rules';
import { shownName } from '@stowage/rules';
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { type CSSProperties, useEffect, useMemo, useRef, useState } from 'react';
import { capabilitiesQuery } from '../../../api/capabilities.js';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { messages as pageMessages } from '../../../messages.js';
import { useBlobUrl } from '../../../ui/useBlobUrl.js';
import { firstBytesQuery } from '../common/bytes/firstBytes.js';
import { imageSource, previewFile } from '../common/bytes/previewFile.js';
import { errorWithoutData } from '../common/bytes/previewQuery.js';
import { useWhole } from '../common/bytes/useWhole.js';
import { useFailureReason } from '../common/viewer/useFailureReason.js';
import { useKeys } from '../common/viewer/useKeys.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import viewerStyles from '../common/viewer/viewers.module.css';
import { previewMessages as messages } from '../messages.js';
import { Drawing } from './Drawing.js';
import styles from './ImageViewer.module.css';
import { buttonStep, fitted, panBy, panOfKey, rotate, zoomTo } from './imageView.js';
import { hasNoRendition, renditionQuery } from './rendition.js';
import { type Undrawn, undrawnState } from './undrawn.js';
import { drawnSize, useGestures } from './useGestures.js';

export function ImageViewer({ file, picture: described, previous, next, onShow }: ViewerProps) {
	const [view, setView] = useState(fitted);
	const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading');
	const [stage, setStage] = useState<HTMLDivElement | null>(null);
	const picture = useRef<HTMLImageElement>(null);
	const drawing = useRef<HTMLDivElement>(null);
	const wanted = useMemo(() => imageSource(file, described), [file, described]);
	const isKnown = described.type !== undefined;
	const isRendition = wanted.kind === 'rendition';
	const rendition = useQuery({ ...renditionQuery(file.renditionUrl), enabled: isRendition });
	const unrendered = errorWithoutData(rendition);
	const source = isRendition && hasNoRendition(unrendered) ? wanted.otherwise : wanted;
	const whole = useWhole(file.url, file.id, file.size, source.kind === 'blob');
	const blobType = source.kind === 'blob' ? source.type : '';
	const isDrawing = blobType === 'image/svg+xml';
	const blobUrl = useBlobUrl(isDrawing ? undefined : whole.data, blobType);
	const renditionUrl = useBlobUrl(rendition.data, 'image/webp');
	const src = { address: file.url, blob: blobUrl, rendition: renditionUrl, none: undefined }[source.kind];
	const error = source.kind === 'rendition' || source.kind === 'none' ? unrendered : errorWithoutData(whole);
	const capabilities = useQuery(capabilitiesQuery);
	const answer = useFailureReason(file.url, state === 'failed' && source.kind === 'address');
	usePreloaded(state === 'loaded' ? [next, previous] : []);
	const drawn = isDrawing ? drawing : picture;
	useGestures({
		stage,
		picture: drawn,
		view,
		setView,
		onSwipe: (direction) => show(direction === 'left' ? next : previous),
	});

	// biome-ignore lint/correctness/useExhaustiveDependencies: each picture is looked at as it comes
	useEffect(() => {
		const { current } = picture;
		// An element begins to load before it is part of the page: its events until then reach no listener.
		if (!current?.complete) return;
		current.decode().then(
			() => setState('loaded'),
			() => setState('failed'),
		);
	}, [src]);

	const show = (other: Entry | undefined) => other && onShow(other);
	const zoomBy = (step: number) => setView((now) => zoomTo(now, now.zoom + step));
	useKeys(({ key }) => {
		const pan = panOfKey(key, view);
		if (pan) setView((now) => panBy(now, pan, drawnSize(drawn)));
		else if (key === '+' || key === '=') zoomBy(buttonStep);
		else if (key === '-') zoomBy(-buttonStep);
		else if (key === '0') setView(fitted);
		else if (key === 'r') setView(rotate);
		else return false;
		return true;
	});

	const undrawn =
		source.kind === 'none' && undrawnState({ wanted: wanted.kind, isKnown, renderer: rendererOf(capabilities) });
	if (undrawn === 'loading') return <ViewerLoading />;
	if (undrawn === 'notAvailable') return <ViewerError file={file} title={messages.notAvailable} />;
	if (undrawn === 'unreachable') {
		return (
			<ViewerError file={file} title={messages.failures.image[0]} reason={capabilities.error?.message}>
				<Button
					text={pageMessages.retry}
					loading={capabilities.isFetching}
					onClick={() => void capabilities.refetch()}
				/>
			</ViewerError>
		);
	}
	if (source.kind === 'none' || state === 'failed' || error) {
		return (
			<div className={styles.viewer}>
				<ViewerError file={file} title={messages.failures.image[0]} reason={error?.message ?? answer} />
			</div>
		);
	}
	const isTurned = view.rotation % 180 !== 0;
	const place: CSSProperties = {
		transform: `translate(${view.x}px, ${view.y}px) rotate(${view.rotation}deg) scale(${view.zoom})`,
	};
	return (
		<div className={styles.viewer}>
			<div ref={setStage} className={styles.stage} data-pannable={view.zoom > 1 || undefined} data-part="stage">
				{state === 'loading' && <ViewerLoading />}
				{isDrawing && whole.data && (
					<Drawing
						ref={drawing}
						name={file.name}
						bytes={whole.data}
						place={place}
						isTurned={isTurned}
						onState={setState}
					/>
				)}
				{src && (
					<img
						ref={picture}
						className={styles.picture}
						src={src}
						alt={shownName(file.name)}
						draggable={false}
						hidden={state !== 'loaded'}
						data-turned={isTurned || undefined}
						style={place}
						onLoad={() => setState('loaded')}
						onError={() => setState('failed')}
					/>
				)}
			</div>
			<div className={viewerStyles.bar} role="toolbar" aria-label={messages.imageControls}>
				<Button
					variant="minimal"
					icon={<MinusIcon />}
					aria-label={messages.zoomOut}
					onClick={() => zoomBy(-buttonStep)}
				/>
				<output className={styles.percentage} aria-label={messages.zoom}>
					{Math.round(view.zoom * 100)}%
				</output>
				<Button variant="minimal" icon={<PlusIcon />} aria-label={messages.zoomIn} onClick={() => zoomBy(buttonStep)} />
				<span className={viewerStyles.gap} />
				<Button
					variant="minimal"
					icon={<ImageRotateRightIcon />}
					aria-label={messages.rotate}
					onClick={() => setView(rotate)}
				/>
				<Button variant="minimal" icon={<ResetIcon />} text={messages.reset} onClick={() => setView(fitted)} />
			</div>
		</div>
	);
}

function rendererOf({ data, isFetched }: UseQueryResult<{ thumbnails: boolean }>): Undrawn['renderer'] {
	if (data) return data.thumbnails ? 'there' : 'none';
	return isFetched ? 'unreachable' : 'loading';
}

/** Makes the browser prefetch the next image while this one is shown. */
function usePreloaded(entries: readonly (Entry | undefined)[]): void {
	const client = useQueryClient();
	const files = useFileSource();
	const key = entries.map((entry) => entry?.path).join('\n');
	// biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the entries
	useEffect(() => {
		let isOver = false;
		const pictures: HTMLImageElement[] = [];
		for (const entry of entries) {
			if (!entry) continue;
			const file = previewFile(files, entry);
			// That a neighbour can't be loaded is an error once it is shown.
			client.fetchQuery(firstBytesQuery(file)).then(
				({ picture: neighbour }) => {
					const source = imageSource(file, neighbour);
					if (isOver) return;
					if (source.kind === 'rendition') void client.prefetchQuery(renditionQuery(source.url));
					if (source.kind !== 'address') return;
					const picture = new Image();
					picture.src = source.url;
					pictures.push(picture);
				},
				() => {},
			);
		}
		return () => {
			isOver = true;
			for (const picture of pictures) if (!picture.complete) picture.src = '';
		};
	}, [client, files, key]);
}
