import { Button } from '@blueprintjs/core';
import { ChevronLeftIcon, ChevronRightIcon } from '@blueprintjs/icons';
import type { Entry } from '@stowage/rules';
import { previewMessages as messages } from '../messages.js';
import type { Neighbours } from './neighbours.js';
import styles from './PreviewPanel.module.css';

export interface StepsProps extends Neighbours {
	onShow: (entry: Entry) => void;
}

/** Buttons to the previous and the next file. At an end the button stays, so that the focus does too. */
export function Steps({ previous, next, onShow }: StepsProps) {
	if (!previous && !next) return null;
	return (
		<>
			<Button
				className={`${styles.step} ${styles.previous}`}
				icon={<ChevronLeftIcon size={20} />}
				aria-label={messages.previous}
				aria-disabled={!previous}
				onClick={() => previous && onShow(previous)}
			/>
			<Button
				className={`${styles.step} ${styles.next}`}
				icon={<ChevronRightIcon size={20} />}
				aria-label={messages.next}
				aria-disabled={!next}
				onClick={() => next && onShow(next)}
			/>
		</>
	);
}
