const POLYNOMIAL = 0xedb88320;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? POLYNOMIAL : 0);
  return value;
});

/** Returns the CRC-32 (IEEE 802.3) of the first `length` characters, which must be ASCII. */
export function crc32(text: string, length = text.length): number {
  let crc = 0xffffffff;
  for (let i = 0; i < length; i++) crc = (crc >>> 8) ^ (TABLE[(crc ^ text.charCodeAt(i)) & 0xff] as number);
  return ~crc >>> 0;
}
