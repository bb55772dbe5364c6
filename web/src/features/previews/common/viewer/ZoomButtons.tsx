import { Button } from '@blueprintjs/core';
import { MinusIcon, PlusIcon } from '@blueprintjs/icons';
import { previewMessages as messages } from '../../messages.js';
import viewerStyles from './viewers.module.css';

export interface ZoomButtonsProps {
	/** 1 is the size of the file. */
	scale: number;
	/** Undefined before there is anything to zoom. */
	onZoom: ((to: 'in' | 'out') => void) | undefined;
}

/** Two buttons, and between them the percentage. */
export function ZoomButtons({ scale, onZoom }: ZoomButtonsProps) {
	return (
		<>
			<Button
				variant="minimal"
				icon={<MinusIcon />}
				aria-label={messages.zoomOut}
				disabled={!onZoom}
				onClick={() => onZoom?.('out')}
			/>
			<output className={viewerStyles.scale} aria-label={messages.zoom}>
				{Math.round(scale * 100)}%
			</output>
			<Button
				variant="minimal"
				icon={<PlusIcon />}
				aria-label={messages.zoomIn}
				disabled={!onZoom}
				onClick={() => onZoom?.('in')}
			/>
		</>
	);
}
