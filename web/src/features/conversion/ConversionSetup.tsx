import { Button, Checkbox, DialogBody, DialogFooter, Radio, RadioGroup, Slider } from '@blueprintjs/core';
import {
	type ConversionFormat,
	conversionFormats,
	conversionQuality,
	conversionQualityLabel,
	convertedName,
	defaultConversionFormat,
	type Entry,
	shownName,
	splitName,
} from '@stowage/rules';
import { type ReactNode, useId, useState } from 'react';
import styles from './ConversionSetup.module.css';
import { type ConversionChoice, previewed } from './conversionState.js';
import { conversionMessages as messages } from './messages.js';

export interface ConversionSetupProps {
	videos: readonly Entry[];
	isStarting: boolean;
	/** Why it could not be started. */
	problem: ReactNode;
	/** Something was chosen. */
	onInput: () => void;
	onStart: (choice: ConversionChoice) => void;
	/** Closes the dialog. What is being started goes on. */
	onCancel: () => void;
}

/** The options before videos are converted. */
export function ConversionSetup(props: ConversionSetupProps) {
	const { videos, isStarting, problem, onInput, onStart, onCancel } = props;
	const [format, setFormat] = useState<ConversionFormat>(defaultConversionFormat);
	const [quality, setQuality] = useState<number>(conversionQuality.default);
	const [deletesOriginal, setDeletesOriginal] = useState(false);
	const hintId = useId();
	const label = conversionQualityLabel(quality);
	const handle = { 'aria-label': messages.quality, 'aria-valuetext': `${quality}, ${label}` };
	return (
		<form
			className={styles.form}
			onSubmit={(event) => {
				event.preventDefault();
				if (!isStarting) onStart({ format, quality, deletesOriginal });
			}}
		>
			<DialogBody onInput={onInput}>
				<RadioGroup
					className={styles.formats}
					label={messages.format}
					disabled={isStarting}
					selectedValue={format}
					onChange={({ currentTarget }) => setFormat(currentTarget.value as ConversionFormat)}
				>
					{conversionFormats.map((value) => (
						<Radio key={value} value={value} autoFocus={value === format}>
							<span className={styles.formatName}>{messages.formats[value].name}</span>{' '}
							<span className={styles.hint}>{messages.formats[value].hint}</span>
						</Radio>
					))}
				</RadioGroup>
				<div className={styles.quality}>
					<div className={styles.qualityLine}>
						<span className={styles.label}>{messages.quality}</span>
						<span className={styles.qualityLabel} aria-hidden="true">
							<span className={styles.qualityValue}>{quality}</span>
							{label}
						</span>
					</div>
					<Slider
						className={styles.slider}
						min={conversionQuality.min}
						max={conversionQuality.max}
						stepSize={conversionQuality.step}
						labelRenderer={false}
						handleHtmlProps={handle}
						disabled={isStarting}
						value={quality}
						onChange={(value) => {
							setQuality(value);
							onInput();
						}}
					/>
				</div>
				<Checkbox
					className={styles.deletes}
					label={messages.deleteOriginal}
					aria-describedby={hintId}
					checked={deletesOriginal}
					disabled={isStarting}
					onChange={(event) => setDeletesOriginal(event.currentTarget.checked)}
				/>
				<p className={styles.deletesHint} id={hintId}>
					{messages.deleteOriginalHint}
				</p>
				<OutputNames videos={videos} format={format} deletesOriginal={deletesOriginal} />
				{problem}
			</DialogBody>
			<DialogFooter
				actions={
					<>
						<Button text={isStarting ? messages.continueInBackground : messages.cancel} onClick={onCancel} />
						{/* Not disabled, since a button that has the focus would swallow every key. */}
						<Button type="submit" intent="primary" text={isStarting ? messages.starting : messages.start} />
					</>
				}
			/>
		</form>
	);
}

interface OutputNamesProps {
	videos: readonly Entry[];
	format: ConversionFormat;
	deletesOriginal: boolean;
}

function OutputNames({ videos, format, deletesOriginal }: OutputNamesProps) {
	const id = useId();
	const { shown, more } = previewed(videos);
	return (
		<section className={styles.outputs} aria-labelledby={id}>
			<h3 className={styles.label} id={id}>
				{messages.outputName}
			</h3>
			<ul className={styles.names}>
				{shown.map(({ name, path }) => (
					<li key={path} className={styles.rename}>
						<LongName className={styles.oldName} {...splitName(name)} />
						<span className={styles.arrow} aria-hidden="true">
							→
						</span>
						<span className="visually-hidden"> {messages.becomes} </span>
						<LongName {...splitSuffix(convertedName(name, format, deletesOriginal))} />
					</li>
				))}
				{more > 0 && <li className={styles.more}>{messages.moreFiles(more)}</li>}
			</ul>
		</section>
	);
}

/** A name of which only the base is truncated in a narrow place, never the end. */
function LongName({ base, extension, className = '' }: { base: string; extension: string; className?: string }) {
	return (
		<span className={`${styles.longName} ${className}`} title={shownName(base + extension)}>
			<span className={styles.base}>{shownName(base)}</span>
			<span>{shownName(extension)}</span>
		</span>
	);
}

/** Splits a name. The extension includes the suffix that distinguishes the new file from its original. */
function splitSuffix(name: string): { base: string; extension: string } {
	const { base, extension } = splitName(name);
	const suffix = '_converted';
	return base.endsWith(suffix)
		? { base: base.slice(0, -suffix.length), extension: suffix + extension }
		: { base, extension };
}
