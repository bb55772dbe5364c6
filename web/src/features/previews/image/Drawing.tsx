import { type CSSProperties, type Ref, useMemo, useState } from 'react';
import { ViewerFrame } from '../frame/ViewerFrame.js';
import styles from './ImageViewer.module.css';

export interface DrawingProps {
	ref?: Ref<HTMLDivElement>;
	name: string;
	bytes: Uint8Array;
	/** Where the viewer's controls and gestures have put it. */
	place: CSSProperties;
	isTurned: boolean;
	onState: (state: 'loaded' | 'failed') => void;
}

/** An SVG, drawn in the viewers' frame: how long the browser is busy with one can't be told before. */
export function Drawing({ ref, name, bytes, place, isTurned, onState }: DrawingProps) {
	const [size, setSize] = useState<{ width: number; height: number }>();
	const content = useMemo(() => ({ kind: 'drawing', bytes }) as const, [bytes]);
	return (
		<div
			ref={ref}
			role="img"
			aria-label={name}
			className={`${styles.picture} ${styles.drawing}`}
			data-turned={isTurned || undefined}
			style={{ ...place, ...(size && drawnAs(size)) }}
			hidden={size === undefined}
		>
			<ViewerFrame
				className={styles.frame}
				title={name}
				content={content}
				onEvent={(event) => {
					if (event.kind === 'shown') setSize(event);
					if (event.kind === 'shown') onState('loaded');
					else if (event.kind === 'failed') onState('failed');
				}}
			/>
		</div>
	);
}

function drawnAs({ width, height }: { width: number; height: number }): CSSProperties {
	const ratio = width > 0 && height > 0 ? width / height : 1;
	return { '--width': `${width > 0 ? width : 150}px`, '--ratio': ratio } as CSSProperties;
}
