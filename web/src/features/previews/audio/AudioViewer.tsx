import { MusicIcon } from '@blueprintjs/icons';
import { contentType, shownName, sniffedBytes, splitName } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { queryKeys } from '../../../api/queryKeys.js';
import { useBlobUrl } from '../../../ui/useBlobUrl.js';
import { keptAsRead } from '../common/bytes/previewQuery.js';
import { runInWorker } from '../common/bytes/runInWorker.js';
import { describeImage } from '../common/images/imageFormat.js';
import { BoundedTags } from '../common/tagCount/BoundedTags.js';
import { ConnectionLost } from '../common/viewer/ConnectionLost.js';
import { keyStep, MediaControls } from '../common/viewer/MediaControls.js';
import { seekBy, togglePlay } from '../common/viewer/mediaState.js';
import { useFailureReason } from '../common/viewer/useFailureReason.js';
import { useKeys } from '../common/viewer/useKeys.js';
import { useReconnection } from '../common/viewer/useReconnection.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import { previewMessages as messages } from '../messages.js';
import styles from './AudioViewer.module.css';
import type { Tags } from './tags.js';
import type { TagsTask } from './tagsWorker.js';

/** Plays a song unless it has tags that a browser reads without end. */
export function AudioViewer(props: ViewerProps) {
	return (
		<BoundedTags file={props.file} title={messages.failures.audio[0]}>
			<AudioPlayer {...props} />
		</BoundedTags>
	);
}

/** Plays by range requests, with the file's metadata. */
function AudioPlayer({ file, next, onShow }: ViewerProps) {
	const [hasFailed, setFailed] = useState(false);
	const [hasCover, setCover] = useState(true);
	const audio = useRef<HTMLAudioElement>(null);
	const { connection, reconnection } = useReconnection();
	const answer = useFailureReason(file.url, hasFailed);
	const { data: tags } = useQuery({
		queryKey: queryKeys.previews.tags(file.id),
		queryFn: async ({ signal }) => {
			const { url, size, name } = file;
			// Without tags it is played all the same.
			return (await readTags({ url, size, type: contentType(name) }, signal)) ?? null;
		},
		retry: false,
		staleTime: 60_000,
		...keptAsRead,
	});
	const coverType = useMemo(() => tags?.cover && describeImage(tags.cover.subarray(0, sniffedBytes)).type, [tags]);
	const cover = useBlobUrl(coverType === undefined ? undefined : tags?.cover, coverType ?? '');

	const fail = (target: HTMLAudioElement) => {
		if (!reconnection.takeError(target)) setFailed(true);
	};

	// An element begins to load before it is part of the page: its events until then reach no listener.
	// biome-ignore lint/correctness/useExhaustiveDependencies: only what happened before
	useEffect(() => {
		if (audio.current?.error) fail(audio.current);
	}, []);

	useKeys(({ key }) => {
		if (key === ' ' || key === 'k') togglePlay(audio.current);
		else if (key === 'ArrowLeft') seekBy(audio.current, -keyStep);
		else if (key === 'ArrowRight') seekBy(audio.current, keyStep);
		else if (key === 'm' && audio.current) audio.current.muted = !audio.current.muted;
		else return false;
		return true;
	});

	if (hasFailed) {
		const [title, text] = messages.failures.audio;
		return <ViewerError file={file} title={title} text={text} reason={answer} />;
	}
	const isLost = connection === 'lost';
	const lines = [tags?.artist, tags?.album].filter((line) => line !== undefined);
	return (
		<div className={styles.viewer}>
			{isLost ? (
				<ConnectionLost file={file} onRetry={() => reconnection.tryAgain()} />
			) : (
				<>
					<div className={styles.cover}>
						{cover && hasCover ? (
							<img src={cover} alt={messages.cover} onError={() => setCover(false)} />
						) : (
							<MusicIcon size={64} aria-hidden />
						)}
					</div>
					<div className={styles.tags}>
						<p className={styles.title}>{shownName(tags?.title ?? splitName(file.name).base)}</p>
						{lines.map((line) => (
							<p key={line} className={styles.line}>
								{line}
							</p>
						))}
					</div>
				</>
			)}
			{/* biome-ignore lint/a11y/useMediaCaption: a sound file has none */}
			<audio
				ref={audio}
				src={file.url}
				aria-label={shownName(file.name)}
				preload="metadata"
				autoPlay
				onEnded={() => next && onShow(next)}
				onLoadedMetadata={({ currentTarget }) => reconnection.resume(currentTarget)}
				onSeeked={() => reconnection.settle()}
				onError={({ currentTarget }) => fail(currentTarget)}
			/>
			{!isLost && (
				<div className={styles.player}>
					<MediaControls media={audio} />
				</div>
			)}
		</div>
	);
}

function readTags(task: TagsTask, signal: AbortSignal): Promise<Tags | undefined> {
	const worker = new Worker(new URL('./tagsWorker.ts', import.meta.url), { type: 'module' });
	return runInWorker(worker, task, signal);
}
