/* Calls one function of an AVR program for each row and prints "class cycles stack" for it.

   Arguments: chip, clock in Hz, bytes of flash, address of the function, address of its input in RAM, first free
   address in RAM, bytes of a row, rows, most cycles of a call. Standard input: the flash, then the rows.

   The program runs in a loop. When it reaches the function, the next row is put into RAM; when the function returns, the
   class is in r24. Cycles are those from the call to the return, both included; the stack is what was written below the
   caller's: free RAM is filled with PAINT before and inspected after. */
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAINT = 0xA5 };

static void quiet(avr_t *avr, const int level, const char *format, va_list values)
{
    (void)avr;
    if (level <= LOG_ERROR)
        vfprintf(stderr, format, values);
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static unsigned char *read_bytes(size_t count)
{
    unsigned char *bytes = malloc(count + 1);
    if (!bytes || fread(bytes, 1, count, stdin) != count)
        fail("The input is shorter than announced.");
    return bytes;
}

static unsigned stack_pointer(const avr_t *avr)
{
    return avr->data[R_SPL] | avr->data[R_SPH] << 8;
}

static void step(avr_t *avr)
{
    if (avr->state != cpu_Running)
        fail("The program stopped or crashed.");
    avr->pc = avr_run_one(avr);
}

int main(int count, char **values)
{
    if (count != 10)
        fail("Nine arguments are needed.");
    unsigned long number[8];
    for (int i = 0; i < 8; i++)
        number[i] = strtoul(values[i + 2], NULL, 0);
    const unsigned long clock = number[0], flash = number[1], function = number[2], input = number[3];
    const unsigned long free_ram = number[4], width = number[5], rows = number[6], most = number[7];

    avr_global_logger_set(quiet);
    avr_t *avr = avr_make_mcu_by_name(values[1]);
    if (!avr)
        fail("simavr does not know this chip.");
    avr_init(avr);
    avr->frequency = clock;
    if (flash > avr->flashend + 1 || input + width > avr->ramend + 1u)
        fail("The program does not fit the chip.");
    avr_loadcode(avr, read_bytes(flash), flash, 0);
    avr->codeend = avr->flashend;

    for (unsigned long row = 0; row < rows; row++) {
        const avr_cycle_count_t limit = avr->cycle + most;
        avr_cycle_count_t before = avr->cycle;
        while (avr->pc != function && avr->cycle < limit) {
            before = avr->cycle;
            step(avr);
        }
        const unsigned entry = stack_pointer(avr);
        const unsigned long back = (avr->data[entry + 1] << 8 | avr->data[entry + 2]) * 2ul;
        if (entry < free_ram || entry + 2 > avr->ramend)
            fail("The stack is not where it should be.");
        memset(avr->data + free_ram, PAINT, entry + 1 - free_ram);
        unsigned char *bytes = read_bytes(width);
        memcpy(avr->data + input, bytes, width);
        free(bytes);
        while (!(avr->pc == back && stack_pointer(avr) == entry + 2) && avr->cycle < limit)
            step(avr);
        if (avr->cycle >= limit)
            fail("A call took more cycles than allowed.");
        unsigned lowest = free_ram;
        while (lowest <= entry && avr->data[lowest] == PAINT)
            lowest++;
        printf("%u %llu %u\n", avr->data[24], (unsigned long long)(avr->cycle - before), entry + 3 - lowest);
    }
    return 0;
}
