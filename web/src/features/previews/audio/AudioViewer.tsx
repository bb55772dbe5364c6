import { MusicIcon } from '@blueprintjs/icons';
import { contentType, splitName } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useBlobUrl } from '../../../ui/useBlobUrl.js';
import { keyStep, MediaControls } from '../common/MediaControls.js';
import { seekBy, togglePlay } from '../common/mediaState.js';
import { describeImage } from '../common/previewFile.js';
import { useFailureReason } from '../common/useFailureReason.js';
import { useKeys } from '../common/useKeys.js';
import { ViewerError } from '../common/ViewerError.js';
import type { ViewerProps } from '../common/ViewerProps.js';
import { previewMessages as messages } from '../messages.js';
import styles from './AudioViewer.module.css';
import { rangedBlob } from './rangedBlob.js';

interface Tags {
	title: string | undefined;
	artist: string | undefined;
	album: string | undefined;
	cover: Uint8Array<ArrayBuffer> | undefined;
}

/** Plays by range requests, with the file's metadata. */
export function AudioViewer({ file, next, onShow }: ViewerProps) {
	const [hasFailed, setFailed] = useState(false);
	const [hasCover, setCover] = useState(true);
	const audio = useRef<HTMLAudioElement>(null);
	const answer = useFailureReason(file.url, hasFailed);
	const { data: tags } = useQuery({
		queryKey: ['preview', 'tags', file.id],
		queryFn: ({ signal }) => readTags(file.url, file.size, contentType(file.name), signal),
		retry: false,
		staleTime: 60_000,
		structuralSharing: false,
		refetchOnWindowFocus: false,
	});
	const coverType = useMemo(() => (tags?.cover ? describeImage(tags.cover).type : undefined), [tags]);
	const cover = useBlobUrl(coverType === undefined ? undefined : tags?.cover, coverType ?? '');

	useEffect(() => {
		// An element begins to load before it is part of the page: its events until then reach no listener.
		if (audio.current?.error) setFailed(true);
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
	const lines = [tags?.artist, tags?.album].filter((line) => line !== undefined);
	return (
		<div className={styles.viewer}>
			<div className={styles.cover}>
				{cover && hasCover ? (
					<img src={cover} alt={messages.cover} onError={() => setCover(false)} />
				) : (
					<MusicIcon size={64} aria-hidden />
				)}
			</div>
			<div className={styles.tags}>
				<p className={styles.title}>{tags?.title ?? splitName(file.name).base}</p>
				{lines.map((line) => (
					<p key={line} className={styles.line}>
						{line}
					</p>
				))}
			</div>
			{/* biome-ignore lint/a11y/useMediaCaption: a sound file has none */}
			<audio
				ref={audio}
				src={file.url}
				aria-label={file.name}
				preload="metadata"
				autoPlay
				onEnded={() => next && onShow(next)}
				onError={() => setFailed(true)}
			/>
			<div className={styles.player}>
				<MediaControls media={audio} />
			</div>
		</div>
	);
}

/** Without tags a file is played all the same. */
async function readTags(url: string, size: number, type: string, signal: AbortSignal): Promise<Tags> {
	const none = { title: undefined, artist: undefined, album: undefined, cover: undefined };
	try {
		const { parseBlob, selectCover } = await import('music-metadata');
		const { common } = await parseBlob(rangedBlob(url, size, type, signal), { duration: false });
		const picture = selectCover(common.picture);
		const text = (value: string | undefined) => (value === undefined || value.trim() === '' ? undefined : value);
		return {
			title: text(common.title),
			artist: text(common.artist),
			album: text(common.album),
			cover: picture ? new Uint8Array(picture.data) : undefined,
		};
	} catch (error) {
		if (signal.aborted) throw error;
		return none;
	}
}
