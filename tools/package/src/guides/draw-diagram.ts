import { renderMermaidSVG } from 'beautiful-mermaid';

const LIGHT = '--bg: #fff; --fg: #1c2824;';
const DARK = '--bg: #10161a; --fg: #e3e9e6;';
/** The library asks for a font of another host, and sets its colours on the element, where no media query applies. */
const FONT = /@import url[^\n]+\n/;
const COLOURS = / style="[^"]+"/;

/**
 * Draws a Mermaid diagram as SVG, with the colours of the pages in light and dark.
 * @throws Error if the text is no diagram that the library knows
 */
export function drawDiagram(mermaid: string): string {
  const colours = `svg { ${LIGHT} background: var(--bg); }\n  @media (prefers-color-scheme: dark) { svg { ${DARK} } }\n`;
  return renderMermaidSVG(mermaid, { font: 'Arial', padding: 8, nodeSpacing: 16, layerSpacing: 24 })
    .replace(COLOURS, '')
    .replace(FONT, colours);
}
